// What delivered tokens cost when every GPU is rented by the hour for the whole run. The output and input figures each
// carry the whole cost (the convention of public price comparisons), so they must not be added; blended divides it by
// prompt and output tokens together.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace servecast::metrics {

struct TokenCost {
  double usd_per_gpu_hour = 0;  // that the figures rest on
  double usd = 0;               // of the run
  double usd_per_million_output_tokens = 0;
  double usd_per_million_input_tokens = 0;
  double usd_per_million_blended_tokens = 0;
};

struct RentedGpus {
  std::int64_t gpus = 0;
  double gpu_hour_usd = 0;
};

// Tokens of completed requests only. A figure without tokens is 0.
TokenCost measure_cost(const RentedGpus& rented, core::Duration duration, std::int64_t prompt_tokens,
                       std::int64_t output_tokens);

}  // namespace servecast::metrics
