// Runs of the built-in quickstart that are short, cut, or lack something: what they may and may not claim.
#include "catch.hpp"
#include "scenario/run.hpp"

#include <string>
#include <vector>

using namespace servecast;

TEST_CASE("the verdict is monotone in the load") {
  const auto verdict = [](const std::string& key, const std::string& rate) {
    return scenario::run(scenario::resolve({"quickstart", {key, "/workload/arrivals/rate_per_s=" + rate}, {}}), {})
        .result.verdict;
  };
  const std::string n2000 = "/workload/requests=2000";
  for (const char* rate : {"5", "20", "50"}) {
    const metrics::Verdict v = verdict(n2000, rate);
    INFO(rate << ": " << v.reason);
    CHECK(v.state == metrics::State::Stable);
    CHECK(v.conclusive);
    CHECK(v.load_factor.value() < 0.9);
  }
  CHECK(verdict(n2000, "100").state == metrics::State::Overloaded);
  CHECK(verdict("/workload/requests=5000", "160").state == metrics::State::Overloaded);
  CHECK(verdict("/limits/max_simulated_s=60", "200").state == metrics::State::Overloaded);
  CHECK(verdict("/limits/max_simulated_s=20", "60").state == metrics::State::Stable);
}

TEST_CASE("a limit that cuts a run after a moment misses no target and is named") {
  const scenario::RunOutcome out =
      scenario::run(scenario::resolve({"quickstart", {"/limits/max_simulated_s=0.5"}, {}}), {});
  CHECK_FALSE(out.result.verdict.conclusive);
  CHECK(out.result.goodput->undecided == 7);
  for (const metrics::TargetValue& t : out.targets) CHECK(t.met());
  REQUIRE_FALSE(out.result.warnings.empty());
  CHECK(out.result.warnings[0].find("limits/max_simulated_s 0.5 cut the run; 7 requests were in flight") == 0);
}

TEST_CASE("no latency exceeds the duration of a run, and its time shares sum to 1") {
  for (const std::string stack : {"vllm-0.19", "sglang-0.5", "trtllm-1"}) {
    for (const std::string requests : {"1", "2", "20"}) {
      const std::vector<std::string> sets = {"/pools/0/stack=\"" + stack + "\"", "/workload/requests=" + requests};
      const metrics::Result r = scenario::run(scenario::resolve({"quickstart", sets, {}}), {}).result;
      INFO(stack << " with " << requests);
      CHECK(r.latency->e2e_ms.max * 1e-3 <= *r.duration_s * (1 + 1e-12));
      CHECK(r.time->compute + r.time->memory + r.time->network + r.time->host + r.time->idle == Approx(1));
    }
  }
}

TEST_CASE("cutting more than a tail of the requests is a caution beside the verdict") {
  const auto cautions = [](const char* length) {
    const std::vector<std::string> sets = {std::string("/pools/0/engine/max_model_len=") + length,
                                           "/workload/requests=500"};
    return scenario::run(scenario::resolve({"quickstart", sets, {}}), {}).result.cautions;
  };
  REQUIRE(cautions("512").size() == 1);
  CHECK(cautions("512")[0].find("of the requests were cut to fit max_model_len 512") != std::string::npos);
  CHECK(cautions("8192").empty());
}

TEST_CASE("without power figures there is no energy, and the reason is given") {
  const std::vector<std::string> sets = {"/cluster/node=\"mi300x-8\"", "/pools/0/precision={}", "/workload/requests=5"};
  const metrics::Result r = scenario::run(scenario::resolve({"quickstart", sets, {}}), {}).result;
  CHECK_FALSE(r.energy.has_value());
  CHECK(r.no_energy == "mi300x states no idle power");
}
