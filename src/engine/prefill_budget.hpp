// What a prefill step of SGLang may still take: tokens of the pool at their expected use, prompt tokens of the step,
// and tokens of the chunk. In tokens; a negative rest is possible and means nothing is left.
#pragma once

#include <cstdint>
#include <limits>

namespace servecast::engine {

// Longest output that admission counts on, whatever the client's limit. Specified: sglang schedule_policy.py.
inline constexpr std::int32_t longest_counted_output = 4096;

struct PrefillBudget {
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;

  double expected = 0;             // tokens that running and admitted requests are expected to add
  std::int64_t admitted = 0;       // tokens of prompts taken into the step, rounded up to pages
  std::int64_t input = 0;          // rest of max_prefill_tokens
  std::int64_t chunk = unlimited;  // rest of the chunk

  // obtainable: tokens that are free or can be evicted now.
  double total_rest(std::int64_t obtainable) const {
    return static_cast<double>(obtainable) - expected - static_cast<double>(admitted);
  }
  std::int64_t prompt_rest(std::int64_t obtainable) const { return obtainable - admitted; }
  bool step_is_full() const { return input <= 0 || chunk <= 0; }
  void take(std::int64_t tokens, std::int64_t output) {
    admitted += tokens;
    expected += static_cast<double>(output);
    input -= tokens;
    if (chunk != unlimited) chunk -= tokens;
  }
};

}  // namespace servecast::engine
