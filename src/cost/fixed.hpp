// A cost that is affine in the counts of a step: for tests, where times must be round numbers, and for a user's own
// what-if. Every coefficient is rounded once to integer picoseconds. It knows no links and no attention.
#pragma once

#include "cost/step_cost.hpp"

namespace servecast::config {
class Fields;
}

namespace servecast::cost {

struct FixedConfig {
  double step_us = 0;
  double prefill_token_us = 0;
  double decode_request_us = 0;
  double context_token_us = 0;  // per KV token read by decoding sequences
};

void describe(config::Fields& f, FixedConfig& c);

class FixedCost final : public StepCost {
 public:
  explicit FixedCost(const FixedConfig& config);

  core::Duration chunk(std::int32_t from, std::int32_t to) const override;
  StepTime step(const StepShape& shape) const override;
  StepTime step(const StepShape& shape, const LinkOffer& offer) const override;

 private:
  core::Duration step_;
  core::Duration prefill_token_;
  core::Duration decode_request_;
  core::Duration context_token_;
};

}  // namespace servecast::cost
