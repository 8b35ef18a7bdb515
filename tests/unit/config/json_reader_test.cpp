#include "config/json_reader.hpp"

#include "catch.hpp"
#include "config/json_writer.hpp"
#include "sample.hpp"

using namespace servecast;
using namespace servecast::config;

namespace {

std::vector<std::string> problems_of(std::string_view json) {
  const Document document = Document::from_text(json, "demo.json");
  sample::Scenario scenario;
  core::Problems problems;
  read(document, scenario, problems);
  return problems.lines();
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a document fills the struct, and absent keys keep their defaults") {
  const auto s = read<sample::Scenario>(Document::from_text(sample::valid_json, "demo.json"));
  CHECK(s.name == "demo");
  CHECK(s.seed == 42);
  CHECK(s.kv_fraction == 0.875);
  CHECK_FALSE(s.record);
  CHECK(s.model.inline_json == R"({"kind":"dense","layers":3})");
  CHECK(s.model.place == "demo.json:/model");
  CHECK(s.scheduler.policy == sample::Policy::Fcfs);
  CHECK(s.arrivals.rate_per_s == 2.5);
  CHECK_FALSE(s.arrivals.concurrency);
  REQUIRE(s.pools.size() == 2);
  CHECK(s.pools[0].stack.name == "vllm");
  CHECK(s.pools[0].scheduler->policy == sample::Policy::Priority);
  CHECK(s.pools[0].scheduler->token_budget == 8192);
  CHECK(s.pools[1].replicas == 1);
  CHECK_FALSE(s.pools[1].scheduler);
  CHECK(s.weights == std::vector<double>{0.1, 1.0});
  CHECK(*s.sizes == std::vector<std::int64_t>{1, 2, 30});
}

TEST_CASE("all problems of a document are reported at once, each with its place") {
  const Lines lines = problems_of(R"({
    "seed": -1, "kv_fraction": 1.5, "record": "yes", "model": 7, "weights": {},
    "scheduler": {"token_budget": 0, "polcy": "fcfs", "policy": "fcsf"},
    "arrivals": {"rate_per_s": 0}, "pools": [ {"replicas": 2.5}, 3, {"name": null} ], "zzz": 1 })");
  CHECK(
      lines ==
      Lines{
          "demo.json:/name: required key is missing: name of the run",
          "demo.json:/seed: -1 is outside [0, inf)",
          "demo.json:/kv_fraction: 1.5 is outside [0.05, 1]",
          "demo.json:/record: expected true or false, found \"yes\"",
          "demo.json:/model: expected a name or an object, found 7",
          "demo.json:/scheduler/policy: \"fcsf\" is not one of fcfs, chunked-prefill, priority; did you mean \"fcfs\"?",
          "demo.json:/scheduler/token_budget: 0 is outside [1, 1048576]",
          "demo.json:/scheduler/polcy: unknown key; did you mean \"policy\"?",
          "demo.json:/arrivals/rate_per_s: 0 is outside (0, 1000000]",
          "demo.json:/pools/0/name: required key is missing: name of the pool",
          "demo.json:/pools/0/replicas: expected a whole number, found 2.5",
          "demo.json:/pools/1: expected an object, found 3",
          "demo.json:/pools/2/name: expected a string, found null",
          "demo.json:/weights: expected a list, found an object",
          "demo.json:/zzz: unknown key; known: name, seed, kv_fraction, record, model, scheduler, arrivals, pools, "
          "weights, sizes",
      });
}

TEST_CASE("forms that exclude each other are told apart") {
  CHECK(problems_of(R"({"name": "x", "arrivals": {}})") ==
        Lines{"demo.json:/arrivals: one of rate_per_s, concurrency is needed"});
  CHECK(problems_of(R"({"name": "x"})") == problems_of(R"({"name": "x", "arrivals": {}})"));
  CHECK(problems_of(R"({"name": "x", "arrivals": {"rate_per_s": 1, "concurrency": 2}})") ==
        Lines{"demo.json:/arrivals: rate_per_s and concurrency exclude each other; keep one"});
  CHECK(problems_of(R"({"name": "x", "arrivals": {"rate_per_s": 1, "concurrency": null}})").empty());
}

TEST_CASE("rules between keys are reported at the key they name") {
  CHECK(problems_of(R"({"name": "x", "arrivals": {"concurrency": 1}, "seed": 13})") ==
        Lines{"demo.json:/seed: 13 is unlucky with records; take another"});
}

TEST_CASE("pointers escape keys of the document, not the way to a key that a rule names") {
  CHECK(problems_of(R"({"name": "x", "arrivals": {"concurrency": 1}, "a/b~c": 1})")[0].find("demo.json:/a~1b~0c: ") ==
        0);
  Document document = Document::from_text(R"({"inner": {}})", "demo.json");
  core::Problems problems;
  read(
      document,
      [](Fields& f) {
        sample::Scheduler inner;
        f.field("inner", inner, "inner");
        f.problem("inner/policy", "is wrong");
      },
      problems);
  CHECK(problems.lines() == Lines{"demo.json:/inner/policy: is wrong"});
}

TEST_CASE("a value that cannot be read causes no problems of rules between keys") {
  CHECK(problems_of(R"({"name": 4, "arrivals": {"concurrency": 1}, "seed": 13})") ==
        Lines{"demo.json:/name: expected a string, found 4"});
  CHECK(problems_of(R"({"name": "x", "weights": ["y"], "arrivals": {"concurrency": 1}, "seed": 13})") ==
        Lines{"demo.json:/weights/0: expected a number, found \"y\""});
}

TEST_CASE("whole numbers may be written as 3.0 but must fit") {
  CHECK(problems_of(R"({"name": "x", "arrivals": {"concurrency": 1}, "seed": 3.0})").empty());
  CHECK(problems_of(R"({"name": "x", "arrivals": {"concurrency": 1}, "seed": 1e30})") ==
        Lines{"demo.json:/seed: 1e+30 does not fit a 64-bit integer"});
  CHECK(problems_of(R"({"name": "x", "arrivals": {"concurrency": 1}, "seed": 18446744073709551615})") ==
        Lines{"demo.json:/seed: 18446744073709551615 does not fit a 64-bit integer"});
  CHECK(problems_of(R"({"name": "x", "arrivals": {"concurrency": 1}, "seed": "3"})") ==
        Lines{"demo.json:/seed: expected a whole number, found \"3\""});
}

TEST_CASE("a flood of unknown keys is summarised") {
  std::string json = R"({"name": "x", "arrivals": {"concurrency": 1})";
  for (int i = 0; i < 100; ++i) json += ", \"unknown_key_number_" + std::to_string(i) + "\": 0";
  const Lines lines = problems_of(json + "}");
  CHECK(lines.size() == 21);
  CHECK(lines.back() == "demo.json:/: 80 more unknown keys");
}

TEST_CASE("what is shown of a value cannot disturb a terminal") {
  const Lines lines = problems_of("{\"name\": \"x\", \"arrivals\": {\"concurrency\": 1}, \"record\": \"\\u001b[31m" +
                                  std::string(500, 'y') + "\"}");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() < 200);
  CHECK(lines[0].find('\x1b') == std::string::npos);
}

TEST_CASE("a written struct reads back as itself") {
  const auto s = read<sample::Scenario>(Document::from_text(sample::valid_json, "demo.json"));
  const std::string once = write(s);
  CHECK(write(read<sample::Scenario>(Document::from_text(once, "demo.json"))) == once);
  CHECK(once.find("\"concurrency\"") == std::string::npos);
  CHECK(once.starts_with("{\n  \"name\": \"demo\",\n  \"seed\": 42,\n"));
  CHECK(once.find(R"("model": {"kind":"dense","layers":3})") != std::string::npos);
}

TEST_CASE("problems inside an inline document are placed in the referring one") {
  const auto s = read<sample::Scenario>(Document::from_text(
      R"({"name": "x", "arrivals": {"concurrency": 1}, "model": {"policy": "fcfs", "bad": 1}})", "demo.json"));
  sample::Scheduler inner;
  core::Problems problems;
  read(Document::from_inline(s.model), inner, problems);
  CHECK(problems.lines() == Lines{"demo.json:/model/bad: unknown key; known: policy, token_budget"});
}
