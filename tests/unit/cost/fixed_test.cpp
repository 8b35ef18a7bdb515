#include "cost/fixed.hpp"

#include "catch.hpp"

using namespace servecast;
using namespace servecast::cost;

TEST_CASE("a fixed cost is affine in the counts of a step") {
  FixedConfig c;
  c.step_us = 1000;
  c.prefill_token_us = 10;
  c.decode_request_us = 3;
  c.context_token_us = 0.001;
  const FixedCost cost(c);
  StepShape s;
  s.decode_requests = 4;
  s.decode_context = 2000;
  s.prefill_tokens = 100;
  s.prefill_requests = 1;
  const StepTime t = cost.step(s);
  CHECK(t.host == core::microseconds(1000));
  CHECK(t.compute == core::microseconds(1012));
  CHECK(t.memory == core::microseconds(2));
  CHECK(t.total == core::microseconds(2014));
  CHECK(cost.chunk(0, 100).ps == 0);
  CHECK(cost.needs_window() == 0);
  CHECK(cost.step(s, {0.5, 1.0, 1.0}).total == t.total);
}
