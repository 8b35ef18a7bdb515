#include "catch.hpp"
#include "process.hpp"

#include <string>

using servecast::test::Outcome;
using servecast::test::scenario_with;
using servecast::test::small_scenario;
using servecast::test::Workspace;

namespace {

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
  CHECK(again.out == first.out);
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

TEST_CASE("a threshold on a metric that the result lacks is an input error") {
  Workspace work;
  work.write("s.json",
             scenario_with("\"name\": \"small\",",
                           R"("name": "small", "thresholds": [ { "metric": "/latency/ttft/p99", "max": 1 } ],)"));
  const Outcome outcome = work.servecast("run s.json");
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "/latency/ttft/p99"));
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
