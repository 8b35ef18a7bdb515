// Requests per second that a replica sustains when it is never short of work: an estimate from the cost model alone,
// for the load factor. It assumes mean lengths, a full batch and prefill spread evenly over steps.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"

namespace servecast::scenario {

// Means over requests. prompt_tokens: what has to be computed, cached prefixes left out.
struct MeanRequest {
  double prompt_tokens = 0;
  double cached_tokens = 0;
  double output_tokens = 0;
};

// 0 where nothing can be said: no tokens, or steps that take no time.
double saturated_requests_per_s(const engine::Config& config, const cost::StepCost& cost, const MeanRequest& mean);

}  // namespace servecast::scenario
