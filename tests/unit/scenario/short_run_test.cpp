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
  CHECK(r.no_energy == "mi300x-8 states no power beside its GPUs");
}

TEST_CASE("energy stays between waiting boards and their limits, and a lower limit saves some of it") {
  const auto energy = [](std::vector<std::string> sets) {
    sets.push_back("/workload/requests=200");
    return *scenario::run(scenario::resolve({"quickstart", sets, {}}), {}).result.energy;
  };
  const metrics::EnergyUse own = energy({});
  CHECK_FALSE(own.scaled);
  CHECK(own.mean_gpu_w > 245);
  CHECK(own.mean_gpu_w < 985);
  CHECK(own.peak_w <= 8 * 985 + 6300 + 1);
  const metrics::EnergyUse capped = energy({"/pools/0/device/power_limit_w=500"});
  CHECK(capped.peak_w <= 8 * 0.985 * 500 + 6300 + 1);
  CHECK(capped.mean_gpu_w < own.mean_gpu_w);
}

TEST_CASE("a what-if of the dies reaches the run, and what is as measured does not") {
  const auto steps = [](std::vector<std::string> sets) {
    sets.push_back("/workload/requests=200");
    return scenario::run(scenario::resolve({"quickstart", sets, {}}), {}).result;
  };
  const metrics::Result own = steps({});
  const metrics::Result same = steps({"/pools/0/device/die_link_tb_s=10", "/pools/0/device/power_limit_w=1000"});
  CHECK(same.fingerprint == own.fingerprint);
  CHECK(same.energy->joules == own.energy->joules);
  const metrics::Result slow = steps({"/pools/0/device/die_link_tb_s=1"});
  CHECK(slow.latency->tpot_ms.mean > own.latency->tpot_ms.mean);
  const metrics::Result split = steps({"/pools/0/device/placement=\"device_per_die\""});
  CHECK(split.time->network > own.time->network);
  CHECK(split.gpus == own.gpus);
  CHECK(split.memory[0].weights_bytes == Approx(own.memory[0].weights_bytes).epsilon(0.02));
}
