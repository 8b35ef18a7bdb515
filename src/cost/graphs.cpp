#include "cost/graphs.hpp"

#include <algorithm>

namespace servecast::cost {

std::vector<std::int32_t> capture_sizes(std::int32_t max_num_seqs, std::int32_t max_num_batched_tokens,
                                        std::int32_t drafts) {
  // Specified by vLLM's configuration: at most 512 tokens, twice the largest decode batch, 16-token steps from 256.
  constexpr std::int64_t most = 512;
  constexpr std::int32_t fine_below = 256;
  const std::int64_t wanted = std::int64_t{max_num_seqs} * (1 + drafts) * 2;
  const auto largest = static_cast<std::int32_t>(std::min({wanted, most, std::int64_t{max_num_batched_tokens}}));
  std::vector<std::int32_t> sizes = {1, 2, 4};
  for (std::int32_t n = 8; n < fine_below; n += 8) sizes.push_back(n);
  for (std::int32_t n = fine_below; n <= largest; n += 16) sizes.push_back(n);
  std::erase_if(sizes, [largest](std::int32_t n) { return n > largest; });
  return sizes;
}

Padded pad(const std::vector<std::int32_t>& sizes, std::int32_t tokens) {
  if (tokens <= 0) return {0, !sizes.empty()};
  const auto next = std::lower_bound(sizes.begin(), sizes.end(), tokens);
  if (next == sizes.end()) return {tokens, false};
  return {*next, true};
}

}  // namespace servecast::cost
