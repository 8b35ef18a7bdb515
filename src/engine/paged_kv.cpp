#include "engine/paged_kv.hpp"

#include "core/error.hpp"
#include "engine/content_chain.hpp"

#include <algorithm>

namespace servecast::engine {
PagedKv::PagedKv(const Config& config)
    : caching_(config.enable_prefix_caching),
      whole_prompt_(config.reserve_full_isl),
      no_evict_(config.capacity_policy == CapacityPolicy::GuaranteedNoEvict),
      offloads_(config.offload_blocks > 0),
      block_size_(config.block_size),
      max_model_len_(config.max_model_len),
      watermark_(static_cast<std::int64_t>(config.watermark * static_cast<double>(config.blocks))),
      pool_(config.blocks),
      offload_(config) {}

std::int64_t PagedKv::longest(const SequenceState& s) const {
  return blocks_for(s.request.prompt_tokens + output_limit(s.request, max_model_len_), block_size_);
}

PrefixHits PagedKv::find(const SequenceState& s, const Table&) {
  hits_.clear();
  PrefixHits hits;
  if (caching_) {
    const std::int64_t cap = (s.tokens() - 1) / block_size_;
    std::size_t piece = 0;
    for (std::int64_t i = 0; i < cap; ++i) {
      const auto block = pool_.find(key_in_order(s.request, i, block_size_, piece));
      if (!block) break;
      hits_.push_back(*block);
    }
  }
  hits.blocks = static_cast<std::int64_t>(hits_.size());
  hits.host_blocks = find_host(s, hits.blocks);
  hits.tokens = static_cast<std::int32_t>((hits.blocks + hits.host_blocks) * block_size_);
  return hits;
}

// Blocks behind the first `from` ones that the tiers below hold, at most all tokens but the last.
std::int64_t PagedKv::find_host(const SequenceState& s, std::int64_t from) {
  tiers_.clear();
  if (offload_.empty()) return 0;
  const std::int64_t cap = (s.tokens() - 1) / block_size_;
  std::size_t piece = 0;
  for (std::int64_t i = from; i < cap; ++i) {
    const memory::Tier tier = offload_.find(key_in_order(s.request, i, block_size_, piece));
    if (tier == memory::Tier::None) break;
    tiers_.push_back(tier);
  }
  return static_cast<std::int64_t>(tiers_.size());
}

bool PagedKv::admits(const SequenceState& s, const Table&, const PrefixHits& hits, std::int32_t tokens,
                     std::int64_t promised, bool alone) const {
  std::int64_t unreferenced = 0;
  for (const memory::BlockId block : hits_) unreferenced += pool_.references(block) == 0 ? 1 : 0;
  const std::int64_t reserve = alone ? 0 : watermark_;
  const std::int64_t whole = blocks_for(s.tokens(), block_size_) - hits.blocks + unreferenced;
  const std::int64_t now = blocks_for(tokens, block_size_) - hits.blocks + unreferenced;
  std::int64_t need = whole_prompt_ ? std::max(whole, now) : now;
  if (no_evict_) need = longest(s) - hits.blocks + unreferenced;
  return need + promised + reserve <= pool_.free();
}

void PagedKv::start(const SequenceState& s, Table& t, const PrefixHits& hits) {
  for (const memory::BlockId block : hits_) {
    pool_.retain(block);
    t.blocks.push_back(block);
  }
  t.published = static_cast<std::int32_t>(hits.blocks);
  load(s, hits);
  SERVECAST_ENSURE(grow(s, t, s.computed), "admission of request {} past its gate", s.request.id.value);
}

// Copies are read before anything is written over them. The last block first, so that it is the first to be forgotten.
void PagedKv::load(const SequenceState& s, const PrefixHits& hits) {
  if (!offloads_) return;
  const std::int64_t cap = (s.tokens() - 1) / block_size_;
  std::size_t piece = 0;
  for (std::int64_t i = hits.blocks; i < cap; ++i) offload_.looked_up(key_in_order(s.request, i, block_size_, piece));
  for (std::int64_t i = hits.host_blocks; i-- > 0;) {
    piece = 0;
    offload_.load(key_in_order(s.request, hits.blocks + i, block_size_, piece), tiers_[static_cast<std::size_t>(i)]);
  }
}

bool PagedKv::grow(const SequenceState&, Table& t, std::int32_t tokens) {
  const std::int64_t need = blocks_for(tokens, block_size_) - static_cast<std::int64_t>(t.blocks.size());
  if (need > pool_.free()) return false;
  for (std::int64_t i = 0; i < need; ++i) {
    t.blocks.push_back(pool_.allocate());
    if (offloads_) offload_.evicted(pool_.evicted());
  }
  return true;
}

void PagedKv::publish(const SequenceState& s, Table& t) {
  if (!caching_) return;
  const std::int32_t full = std::min(s.computed, s.tokens()) / block_size_;
  for (; t.published < full; ++t.published) {
    if (t.published == 0) t.piece = 0;
    const memory::ContentKey key = key_in_order(s.request, t.published, block_size_, t.piece);
    pool_.publish(t.blocks[static_cast<std::size_t>(t.published)], key);
    if (offloads_) offload_.filled(key);
  }
}

void PagedKv::release(Table& t) {
  pool_.release_reversed(t.blocks);
  t.blocks.clear();
  t.published = 0;
  t.piece = 0;
}

}  // namespace servecast::engine
