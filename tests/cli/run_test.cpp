#include "catch.hpp"
#include "core/sha256.hpp"
#include "process.hpp"

#include <string>

using servecast::test::Outcome;
using servecast::test::scenario_with;
using servecast::test::small_scenario;
using servecast::test::Workspace;

namespace {

// What a result says apart from the files it comes from.
std::string without_inputs(const std::string& json) { return json.substr(0, json.find("\"inputs\"")); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the same scenario and seed give the same bytes, whatever the threads") {
  Workspace work;
  work.write("s.json", small_scenario());
  const Outcome first = work.servecast("run s.json --json --threads 1");
  REQUIRE(first.exit_code == 0);
  CHECK(contains(first.out, "\"completed\": 200"));
  CHECK(work.servecast("run s.json --json --threads 1").out == first.out);
  CHECK(work.servecast("run s.json --json --threads 2").out == first.out);
  CHECK(work.servecast("run s.json --json --seed 2").out != first.out);
}

TEST_CASE("human output gives the verdict first and fits 80 columns") {
  Workspace work;
  work.write("s.json", small_scenario());
  const Outcome outcome = work.servecast("run s.json");
  REQUIRE(outcome.exit_code == 0);
  CHECK(contains(outcome.out.substr(0, outcome.out.find('\n')), "stable"));
  std::size_t start = 0;
  for (std::size_t end = outcome.out.find('\n'); end != std::string::npos; end = outcome.out.find('\n', start)) {
    CHECK(end - start <= 80);
    start = end + 1;
  }
  CHECK(outcome.err.empty());
}

TEST_CASE("one of a thing is not called several") {
  Workspace work;
  work.write("s.json", scenario_with("\"replicas\": 2", "\"replicas\": 1"));
  const Outcome run = work.servecast("run s.json --set /workload/requests=1");
  CHECK(contains(run.out, "\n  1 request arrived, 1 completed;"));
  CHECK(contains(run.out, " s on 1 GPU\n"));
  CHECK(contains(work.servecast("fit s.json").out, "(1 replica)"));
  CHECK(contains(work.servecast("run s.json --set /pools/0/replicas=9").err,
                 "needs 9 GPUs for 9 replicas of 1 GPU; 1 node of 8 GPUs make 8, room for 8 replicas"));
}

TEST_CASE("--out writes the files, and resolved.json reproduces the run") {
  Workspace work;
  work.write("s.json", small_scenario());
  const Outcome first = work.servecast("run s.json --set /workload/requests=50 --seed 7 --out results --json");
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(work.read("results/result.json") == first.out);
  CHECK(work.read("results/requests.csv").starts_with("id,"));
  CHECK_FALSE(work.read("results/timeline.csv").empty());
  const Outcome again = work.servecast("run results/resolved.json --out again --json");
  INFO(again.err);
  CHECK(without_inputs(again.out) == without_inputs(first.out));
  CHECK(work.read("again/resolved.json") == work.read("results/resolved.json"));
}

TEST_CASE("extends runs a what-if over its base") {
  Workspace work;
  work.write("s.json", small_scenario());
  work.write("less.json", R"({ "extends": "s.json", "workload": { "requests": 20 } })");
  const Outcome outcome = work.servecast("run less.json --json");
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "\"completed\": 20"));
}

TEST_CASE("a failed threshold prints the result and exits 4") {
  Workspace work;
  work.write(
      "s.json",
      scenario_with("\"name\": \"small\",",
                    R"("name": "small", "thresholds": [ { "metric": "/latency/ttft_ms/p99", "max": 0.001 } ],)"));
  const Outcome outcome = work.servecast("run s.json");
  CHECK(outcome.exit_code == 4);
  CHECK_FALSE(outcome.out.empty());
  CHECK(contains(outcome.err, "/latency/ttft_ms/p99"));
}

TEST_CASE("a threshold on a metric that no result has is refused before the run begins") {
  Workspace work;
  std::string text = scenario_with(
      "\"name\": \"small\",", R"("name": "small", "thresholds": [ { "metric": "/latency/ttft/p99", "max": 1 } ],)");
  work.write("s.json", text.replace(text.find("\"requests\": 200"), 15, "\"requests\": 50000000"));
  const Outcome outcome = work.servecast("run s.json --out d");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "s.json:/thresholds/0/metric: a result of this scenario has no number at /latency/ttft/p99; did you mean "
        "\"/latency/ttft_ms/p99\"?\n");
  CHECK_FALSE(std::filesystem::exists(work.folder() / "d"));
  const Outcome set = work.servecast("run s.json --set '/thresholds/0/metric=/energy/joule'");
  CHECK(set.exit_code == 2);
  CHECK(contains(set.err, "--set /thresholds/0/metric: "));
}

TEST_CASE("every number of a result can be a threshold") {
  Workspace work;
  const auto threshold = [](const std::string& metric) { return R"({ "metric": ")" + metric + R"(", "max": 1e18 })"; };
  std::string all;
  for (const std::string metric :
       {"/load_factor", "/requests/completed", "/duration_s", "/gpus", "/latency/itl_ms/mean", "/steps", "/seed",
        "/throughput/requests_per_s", "/goodput_requests_per_s", "/slo_attainment", "/memory/serve/prefix_hit_rate",
        "/time/idle", "/energy/joules", "/cost/usd", "/confidence/half_width/e2e_ms", "/confidence/effective_samples"})
    all += (all.empty() ? "" : ", ") + threshold(metric);
  work.write("s.json", scenario_with("\"name\": \"small\",",
                                     R"("name": "small", "slo": { "ttft_ms": 1e6 }, "thresholds": [ )" + all + " ],"));
  const Outcome outcome = work.servecast("run s.json");
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("a result names the files it comes from by their digests") {
  Workspace work;
  work.write("s.json", small_scenario());
  const std::string over = R"({ "extends": "s.json", "model": "m.json", "workload": { "requests": 20 } })";
  work.write("over.json", over);
  work.write("m.json", work.servecast("describe model llama-3.1-8b --json").out);
  const std::string out = work.servecast("run over.json --json").out;
  const auto line = [](const std::string& role, const std::string& text) {
    return "\"" + role + "\": \"" + servecast::core::sha256(text) + "\"";
  };
  CHECK(contains(out, line("scenario", over)));
  CHECK(contains(out, line("scenario/extends", small_scenario())));
  CHECK(contains(out, line("model", work.read("m.json"))));
  const std::string trace = "{\"arrival_s\":0,\"input_tokens\":10,\"output_tokens\":5}\n";
  work.write("t.jsonl", trace);
  work.write("traced.json", small_scenario().substr(0, small_scenario().find("\"workload\"")) +
                                R"("workload": { "trace": "t.jsonl" } })");
  CHECK(contains(work.servecast("run traced.json --json").out, line("trace", trace)));
  CHECK(contains(work.servecast("run quickstart --set /workload/requests=9 --json").out, "\"inputs\": {}"));
}

TEST_CASE("rows of a trace with something amiss are told in the result's warnings") {
  Workspace work;
  work.write("t.jsonl",
             "{\"timestamp\":0,\"input_length\":2000,\"output_length\":5,\"hash_ids\":[1]}\n"
             "{\"timestamp\":1,\"input_length\":512,\"output_length\":5,\"hash_ids\":[1]}\n");
  work.write("s.json", small_scenario().substr(0, small_scenario().find("\"workload\"")) +
                           R"("workload": { "trace": "t.jsonl", "format": "mooncake" } })");
  CHECK(contains(work.servecast("run s.json --json").out,
                 "1 row of the trace: fewer hash_ids than blocks of the prompt; its end shares nothing"));
  const Outcome summary = work.servecast("import trace t.jsonl");
  CHECK(contains(summary.out, "amiss                1: fewer hash_ids"));
  CHECK(contains(summary.out, "busiest minute         - (shorter than a minute)"));
}

TEST_CASE("a what-if may extend a built-in scenario by its name") {
  Workspace work;
  work.write("over.json", R"({ "extends": "quickstart", "workload": { "requests": 20 } })");
  CHECK(contains(work.servecast("run over.json --json").out, "\"completed\": 20"));
  work.write("typo.json", R"({ "extends": "quikstart" })");
  const Outcome typo = work.servecast("run typo.json");
  CHECK(typo.exit_code == 2);
  CHECK(contains(typo.err, "typo.json:/extends: unknown scenario \"quikstart\"; did you mean \"quickstart\"?"));
  work.write("base", small_scenario());
  work.write("plain.json", R"({ "extends": "base" })");
  CHECK(contains(work.servecast("run plain.json").err, "to read the file of this name write \"./base\""));
  work.write("dotted.json", R"({ "extends": "./base" })");
  CHECK(work.servecast("run dotted.json").exit_code == 0);
}

TEST_CASE("an overloaded run ends, says so with its load factor and exits 0") {
  Workspace work;
  work.write("s.json", scenario_with("\"rate_per_s\": 10", "\"rate_per_s\": 200"));
  const Outcome outcome = work.servecast("run s.json --set /workload/requests=20000");
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "overloaded at load factor"));
}

TEST_CASE("a run that reaches its time limit counts what did not finish") {
  Workspace work;
  work.write("s.json", scenario_with("\"rate_per_s\": 10", "\"rate_per_s\": 200"));
  const Outcome outcome = work.servecast("run s.json --set /workload/requests=20000 --set /limits/max_simulated_s=60");
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "overloaded at load factor"));
  CHECK(contains(outcome.out, "unfinished"));
}

TEST_CASE("an interrupted run prints its partial result and exits 130") {
  Workspace work;
  work.write("s.json", scenario_with("\"requests\": 200", "\"requests\": 50000000"));
  // timeout sends SIGINT after a second; the run is far longer than that.
  const int status = std::system(("cd '" + work.folder().string() +
                                  "' && timeout --preserve-status -s INT 1 '" SERVECAST_BINARY
                                  "' run s.json > stdout.txt 2> stderr.txt; echo $? > code.txt")
                                     .c_str());
  CHECK(status == 0);
  CHECK(work.read("code.txt") == "130\n");
  CHECK(contains(work.read("stdout.txt") + work.read("stderr.txt"), "interrupted"));
}

TEST_CASE("an idle arrival process is interrupted while it looks for the next request") {
  Workspace work;
  work.write("s.json", scenario_with(R"("process": "poisson", "rate_per_s": 10)",
                                     R"("process": "mmpp", "mmpp": [ { "rate_per_s": 1e-9, "mean_dwell_s": 0.001 },
                                         { "rate_per_s": 0, "mean_dwell_s": 0.001 } ])"));
  const int status = std::system(("cd '" + work.folder().string() +
                                  "' && timeout --preserve-status -s INT 1 '" SERVECAST_BINARY
                                  "' run s.json > stdout.txt 2> stderr.txt; echo $? > code.txt")
                                     .c_str());
  CHECK(status == 0);
  CHECK(work.read("code.txt") == "130\n");
  CHECK(contains(work.read("stdout.txt"), "interrupted"));
}

TEST_CASE("a threshold on what was not measured fails, it does not pass as 0") {
  Workspace work;
  work.write("s.json",
             scenario_with("\"name\": \"small\",",
                           R"("name": "small", "thresholds": [ { "metric": "/latency/e2e_ms/p99", "max": 1e9 } ],)"));
  const Outcome outcome = work.servecast("run s.json --set /limits/max_simulated_s=0.001");
  CHECK(outcome.exit_code == 4);
  CHECK(contains(outcome.err, "/latency/e2e_ms/p99 is unknown"));
}

TEST_CASE("capacity of a deployment that does not fit answers in JSON, too") {
  Workspace work;
  work.write("s.json", scenario_with("llama-3.1-8b", "llama-3.1-405b"));
  const Outcome outcome =
      work.servecast("capacity s.json --json --set /slo/ttft_ms=1000 --set /workload/requests=1000");
  CHECK(outcome.exit_code == 3);
  CHECK(contains(outcome.out, "\"verdict\": \"infeasible\""));
  CHECK(contains(outcome.out, "--set /pools/0/parallel/tensor="));
}
