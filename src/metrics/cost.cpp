#include "metrics/cost.hpp"

namespace servecast::metrics {

namespace {

double per_million(double usd, std::int64_t tokens) {
  return tokens > 0 ? usd * 1e6 / static_cast<double>(tokens) : 0.0;
}

}  // namespace

TokenCost measure_cost(const RentedGpus& rented, core::Duration duration, std::int64_t prompt_tokens,
                       std::int64_t output_tokens) {
  TokenCost cost;
  cost.usd_per_gpu_hour = rented.gpu_hour_usd;
  cost.usd = static_cast<double>(rented.gpus) * rented.gpu_hour_usd * core::to_seconds(duration) / 3600.0;
  cost.usd_per_million_output_tokens = per_million(cost.usd, output_tokens);
  cost.usd_per_million_input_tokens = per_million(cost.usd, prompt_tokens);
  cost.usd_per_million_blended_tokens = per_million(cost.usd, prompt_tokens + output_tokens);
  return cost;
}

}  // namespace servecast::metrics
