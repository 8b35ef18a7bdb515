#include "plan/compare.hpp"

#include "catch.hpp"

#include <cmath>

using namespace servecast;
using namespace servecast::plan;

TEST_CASE("paired differences have the interval of Student's t, not that of two separate samples") {
  // differences 1, 2, 3: mean 2, deviation 1, t(2) = 4.303
  const Difference d = paired({10, 20, 30}, {11, 22, 33});
  CHECK(d.a == 20);
  CHECK(d.b == 22);
  CHECK(*d.half_width == Approx(4.303 / std::sqrt(3.0)).epsilon(0.001));
  CHECK_FALSE(d.clear());
  CHECK(*d.ratio() == Approx(1.1));
}

TEST_CASE("a constant difference is clear, and none is not") {
  CHECK(paired({1, 2, 3}, {2, 3, 4}).clear());
  CHECK_FALSE(paired({1, 2, 3}, {1, 2, 3}).clear());
  CHECK(paired({1}, {2}).clear());
}

TEST_CASE("stored results compare what both have") {
  const std::string head = "{\"verdict\":\"stable\",\"requests\":{},\"latency\":{\"ttft_ms\":{\"mean\":";
  const auto a = config::Document::from_text(head + "100}}}", "a");
  const auto b = config::Document::from_text(head + "80}},\"slo_attainment\":1}", "b");
  CHECK(is_result(a));
  const Comparison c = compare_results(a, b, "a", "b");
  REQUIRE(c.differences.size() == 1);
  CHECK(c.differences[0].difference() == -20);
  CHECK_FALSE(c.differences[0].half_width);
  CHECK(comparison_text(c).find("B is 20.0 % lower") != std::string::npos);
}

TEST_CASE("a scenario equals itself under common random numbers, and twice the step time is clearly slower") {
  scenario::Scenario s;
  s.name = "a";
  s.model.name = "qwen3-0.6b";
  s.cluster.node.name = "hgx-h100";
  s.pools.emplace_back().stack.name = "vllm-0.19";
  s.cost.fixed.emplace();
  s.cost.fixed->step_us = 10'000;
  s.workload.arrivals.emplace().rate_per_s = 5;
  s.workload.requests = 200;
  s.workload.input_tokens.emplace().value = 16;
  s.workload.output_tokens.emplace().value = 10;
  const scenario::Resolved a = scenario::resolve(s, "a");
  for (const Difference& d : compare_scenarios(a, a, {.replications = 3}).differences) CHECK(d.difference() == 0);
  s.cost.fixed->step_us = 20'000;
  const Comparison c = compare_scenarios(a, scenario::resolve(s, "b"), {.replications = 3});
  for (const Difference& d : c.differences)
    if (d.metric == "/latency/tpot_ms/mean") CHECK(*d.ratio() == Approx(2));
  CHECK(comparison_json(c) ==
        comparison_json(compare_scenarios(a, scenario::resolve(s, "b"), {.replications = 3, .threads = 1})));
}
