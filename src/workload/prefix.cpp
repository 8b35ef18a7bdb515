#include "workload/prefix.hpp"

#include <algorithm>

namespace servecast::workload {

std::uint64_t chain_id(ChainKind kind, std::uint64_t index) {
  std::uint64_t state = static_cast<std::uint64_t>(kind);
  state = core::splitmix64(state) ^ index;
  const std::uint64_t id = core::splitmix64(state);
  return id == 0 ? 1 : id;
}

Content trace_content(std::span<const std::uint64_t> ids, std::int32_t block_tokens, std::int32_t prompt_tokens) {
  Content content;
  const std::int64_t blocks = (std::int64_t{prompt_tokens} + block_tokens - 1) / block_tokens;
  const auto pieces = std::min(ids.size(), static_cast<std::size_t>(blocks));
  content.pieces.reserve(pieces);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::int64_t end = std::min<std::int64_t>(static_cast<std::int64_t>(i + 1) * block_tokens, prompt_tokens);
    content.pieces.push_back({chain_id(ChainKind::Trace, ids[i]), static_cast<std::int32_t>(end)});
  }
  return content;
}

SharedPrefix::SharedPrefix(const SharedPrefixConfig& c, std::uint64_t seed)
    : share_(c.share),
      tokens_(c.tokens),
      family_(WeightedChoice::zipf(c.families, c.zipf)),
      random_(seed, "workload/prefix") {}

Content SharedPrefix::draw(std::int32_t prompt_tokens) {
  Content content;
  const bool shares = random_.uniform() < share_;
  const std::size_t family = family_.at(random_.uniform());
  if (shares) content.pieces.push_back({chain_id(ChainKind::Family, family), std::min(prompt_tokens, tokens_)});
  return content;
}

}  // namespace servecast::workload
