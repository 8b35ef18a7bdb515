// Random steps within an engine's limits: small and large, with and without prefill.
#pragma once

#include "core/random.hpp"
#include "cost/roofline.hpp"
#include "cost/step_cost.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost {

inline std::int64_t log_uniform(core::Random& random, double most) {
  return static_cast<std::int64_t>(std::exp(random.uniform() * std::log(most)));
}

inline StepShape random_shape(core::Random& random, const StepModelInput& in, const StepCost& cost) {
  StepShape s;
  const int kind = static_cast<int>(random.below(3));  // decode, prefill, both
  if (kind != 1) {
    s.decode_requests = static_cast<std::int32_t>(log_uniform(random, in.max_num_seqs - 2));
    for (std::int32_t i = 0; i < std::min(s.decode_requests, 8); ++i)
      s.decode_context += log_uniform(random, in.max_model_len);
    s.decode_context = std::max<std::int64_t>(s.decode_requests,
                                              s.decode_context * s.decode_requests / std::min(s.decode_requests, 8));
    const std::int64_t window = std::int64_t{cost.needs_window()} * s.decode_requests;
    if (window > 0) s.decode_context_windowed = std::min(s.decode_context, window);
  }
  if (kind != 0) {
    const std::int64_t room = in.max_num_batched_tokens - s.decode_requests;
    s.prefill_tokens = static_cast<std::int32_t>(log_uniform(random, static_cast<double>(room)));
    s.prefill_requests = 1;
    const auto from = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(in.max_model_len)));
    s.prefill_attention = cost.chunk(from, from + s.prefill_tokens);
  }
  s.sampled_rows = s.decode_requests + (random.below(2) == 0 ? s.prefill_requests : 0);
  return s;
}

}  // namespace servecast::cost
