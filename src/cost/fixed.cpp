#include "cost/fixed.hpp"

#include "config/fields.hpp"

namespace servecast::cost {

void describe(config::Fields& f, FixedConfig& c) {
  // The largest step that an engine can make stays far inside the longest run.
  f.field("step_us", c.step_us, config::closed(0, 1e9), "every step");
  f.field("prefill_token_us", c.prefill_token_us, config::closed(0, 1e5), "every prefill token");
  f.field("decode_request_us", c.decode_request_us, config::closed(0, 1e5), "every decoding sequence");
  f.field("context_token_us", c.context_token_us, config::closed(0, 100), "every KV token read by decoding sequences");
  if (!f.reading()) return;
  const auto nothing = [](double us) { return core::microseconds(us).ps == 0; };
  if (nothing(c.step_us) && (nothing(c.prefill_token_us) || nothing(c.decode_request_us)))
    f.problem("",
              "some steps would take no time, and time would stand still; give step_us, or both prefill_token_us "
              "and decode_request_us, of at least 1e-6");
}

FixedCost::FixedCost(const FixedConfig& config)
    : step_(core::microseconds(config.step_us)),
      prefill_token_(core::microseconds(config.prefill_token_us)),
      decode_request_(core::microseconds(config.decode_request_us)),
      context_token_(core::microseconds(config.context_token_us)) {}

core::Duration FixedCost::chunk(std::int32_t, std::int32_t) const { return {}; }

StepTime FixedCost::step(const StepShape& shape) const {
  StepTime t;
  t.host = step_;
  t.compute = prefill_token_ * shape.prefill_tokens + decode_request_ * shape.decode_requests + shape.prefill_attention;
  t.memory = context_token_ * shape.decode_context;
  t.total = t.host + t.compute + t.memory;
  return t;
}

StepTime FixedCost::step(const StepShape& shape, const LinkOffer&) const { return step(shape); }

}  // namespace servecast::cost
