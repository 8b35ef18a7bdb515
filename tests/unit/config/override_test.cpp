#include "catch.hpp"
#include "config/json_reader.hpp"
#include "sample.hpp"

using namespace servecast;
using namespace servecast::config;

namespace {

using Lines = std::vector<std::string>;

struct Outcome {
  sample::Scenario scenario;
  Lines problems;
};

Outcome with(std::initializer_list<std::string_view> assignments) {
  Document document = Document::from_text(sample::valid_json, "demo.json");
  core::Problems problems;
  for (const std::string_view assignment : assignments) document.set(assignment, problems);
  Outcome outcome;
  read(document, outcome.scenario, problems);
  outcome.problems = problems.lines();
  return outcome;
}

}  // namespace

TEST_CASE("an override sets a number, a bare string, a list element; the later wins") {
  const Outcome o = with({"/scheduler/token_budget=4096", "/name=what if", "/pools/1/replicas=7", "/seed=1", "/seed=2",
                          "/model=llama-3.1-70b", "/pools/1/stack={\"a\": [1]}"});
  CHECK(o.problems.empty());
  CHECK(o.scenario.scheduler.token_budget == 4096);
  CHECK(o.scenario.name == "what if");
  CHECK(o.scenario.pools[1].replicas == 7);
  CHECK(o.scenario.seed == 2);
  CHECK(o.scenario.model.name == "llama-3.1-70b");
  CHECK(o.scenario.pools[1].stack.inline_json == R"({"a":[1]})");
}

TEST_CASE("an override may set a key that the document leaves at its default") {
  const Outcome o = with({"/pools/1/scheduler/policy=priority"});
  CHECK(o.problems.empty());
  CHECK(o.scenario.pools[1].scheduler->policy == sample::Policy::Priority);
}

TEST_CASE("problems of an override name it") {
  CHECK(with({"/schduler/policy=fcfs"}).problems == Lines{"--set /schduler: unknown key; did you mean \"scheduler\"?"});
  CHECK(with({"/kv_fraction=2"}).problems == Lines{"--set /kv_fraction: 2 is outside [0.05, 1]"});
  CHECK(with({"/kv_fraction=1e999"}).problems == Lines{"--set /kv_fraction: expected a number, found \"1e999\""});
  CHECK(with({"/pools/2/replicas=1"}).problems ==
        Lines{"--set /pools/2/replicas: the list has 2 elements, so \"2\" names none; elements count from 0"});
  CHECK(with({"/name/x=1"}).problems ==
        Lines{"--set /name/x: the value above \"x\" is a string; only objects and lists have parts"});
  CHECK(with({"seed=1", "/seed", "=3", "/a~9=1"}).problems ==
        Lines{"--set seed=1: expected /json/pointer=value", "--set /seed: expected /json/pointer=value",
              "--set =3: expected /json/pointer=value", "--set /a~9=1: expected /json/pointer=value"});
  CHECK_THAT(with({"/model={\"a\": }"}).problems.at(0), Catch::StartsWith("--set /model:1:"));
  CHECK(with({"/name=\xFF"}).problems == Lines{"--set /name: the value is not UTF-8 text"});
}

TEST_CASE("null unsets an optional key and is no value for another") {
  const Outcome o = with({"/arrivals/rate_per_s=null", "/arrivals/concurrency=4"});
  CHECK(o.problems.empty());
  CHECK(o.scenario.arrivals.concurrency == 4);
  CHECK(with({"/seed=null"}).problems == Lines{"--set /seed: expected a whole number, found null"});
  CHECK(with({"/sed=null"}).problems == Lines{"--set /sed: unknown key; did you mean \"seed\"?"});
}

TEST_CASE("a refused override leaves nothing behind") {
  Document document = Document::from_text("{}", "a.json");
  core::Problems problems;
  document.set("/l=[1]", problems);
  const std::string before = document.text();
  document.set("/l/0/x=1", problems);
  document.set("/l/9=1", problems);
  CHECK(problems.lines().size() == 2);
  CHECK(document.text() == before);
}
