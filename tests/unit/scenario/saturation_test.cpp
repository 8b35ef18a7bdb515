#include "scenario/saturation.hpp"

#include "catch.hpp"
#include "cost/fixed.hpp"
#include "scenario/run.hpp"

using namespace servecast;

namespace {

engine::Config with_budget(std::int32_t tokens) {
  engine::Config c;
  c.max_num_batched_tokens = tokens;
  c.max_num_seqs = 1;
  c.blocks = 1000;
  return c;
}

cost::FixedCost one_ms_steps() {
  cost::FixedConfig c;
  c.step_us = 1000;
  return cost::FixedCost(c);
}

}  // namespace

TEST_CASE("with a budget of one token a request takes a step for every token") {
  // 100 prompt tokens, the last of which makes the first of 11 output tokens: 110 steps of 1 ms.
  CHECK(scenario::saturated_requests_per_s(with_budget(1), one_ms_steps(), {100, 0, 11}) == Approx(1 / 0.110));
}

TEST_CASE("a saturated step never exceeds the token budget") {
  for (const std::string stack : {"vllm-0.19", "sglang-0.5", "trtllm-1"}) {
    for (const std::string budget : {"1", "2", "3", "5"}) {
      std::vector<std::string> sets = {"/pools/0/stack=\"" + stack + "\"",
                                       "/workload/requests=3",
                                       "/pools/0/engine/max_num_batched_tokens=" + budget,
                                       "/pools/0/engine/max_num_seqs=1",
                                       "/workload/input_tokens/mean=20",
                                       "/workload/input_tokens/p99=60"};
      INFO(stack << " with a budget of " << budget);
      const scenario::RunOutcome out = scenario::run(scenario::resolve({"quickstart", sets, {}}), {});
      CHECK(out.result.requests.completed == 3);
      CHECK(out.result.verdict.load_factor.value() > 0);
    }
  }
}
