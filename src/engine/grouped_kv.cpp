#include "engine/grouped_kv.hpp"

#include "core/error.hpp"
#include "engine/block_store.hpp"
#include "engine/content_chain.hpp"
#include "engine/count_store.hpp"

#include <limits>

namespace servecast::engine {
namespace {

constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();

bool counts_tokens(const KvKind& k) { return k.keeps != KvKeeps::State && k.keeps != KvKeeps::Fixed; }

// Pages of a group that hold the first `tokens` tokens, beyond those that `pages` leading ones do.
std::int32_t more_pages(const KvKind& k, std::int32_t tokens, std::int32_t pages, std::int32_t most) {
  const std::int32_t more = std::min(pages_for(tokens, k.block_size), most) - pages;
  return k.keeps == KvKeeps::State ? std::min(more, 1) : more;
}

}  // namespace

GroupedKv::GroupedKv(const Config& config, bool shared_content)
    : kinds_(config.kinds),
      caching_(config.enable_prefix_caching),
      whole_prompt_(config.reserve_full_isl),
      block_size_(config.block_size),
      pages_(config.blocks),
      watermark_(static_cast<std::int64_t>(config.watermark * static_cast<double>(config.blocks))) {
  SERVECAST_ENSURE(
      !kinds_.empty() && config.offload_blocks == 0 && config.capacity_policy == CapacityPolicy::MaxUtilization,
      "a configuration that groups cannot serve");
  const std::int64_t in_flight = std::int64_t{config.max_num_batched_tokens} * (config.async_scheduling ? 2 : 1);
  for (const KvKind& k : kinds_) {
    // A window's pages come and go; what comes is bounded. All other counts follow from the length.
    const bool bounded = k.keeps == KvKeeps::Window || k.keeps == KvKeeps::Chunk;
    most_.push_back(bounded ? most_pages(k, config.max_model_len, in_flight) : never);
    if (k.keeps == KvKeeps::State) state_size_ = k.block_size;
    if (counts_tokens(k)) slots_a_token_ += static_cast<double>(k.groups) * block_size_ / k.block_size;
  }
  if (shared_content && caching_)
    store_ = std::make_unique<BlockStore>(kinds_, config.blocks);
  else
    store_ = std::make_unique<CountStore>(kinds_, config.blocks, caching_);
}

// Pages of a group that a hit of that many tokens takes.
GroupedKv::Found GroupedKv::found(const KvKind& k, std::int32_t tokens) const {
  if (k.keeps == KvKeeps::Fixed) return {};
  return {skipped_pages(k, tokens), tokens / k.block_size};
}

PrefixHits GroupedKv::find(const SequenceState& s, const Table& t) {
  PrefixHits hits;
  unreferenced_ = 0;
  too_fresh_ = false;
  store_->forget_plan();
  if (!caching_) return hits;
  hits.tokens = longest_hit(kinds_, s.tokens() - 1,
                            [&](std::size_t kind, std::int32_t page) { return store_->holds(s, t, kind, page); });
  if (hits.tokens == 0) return hits;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Found pages = found(kinds_[i], hits.tokens);
    unreferenced_ += store_->plan(s, t, i, pages.first, pages.end);
  }
  if (state_size_ > 0 && !fresh_.empty()) {
    const std::uint64_t state = key_in_group(s.request, hits.tokens / state_size_ - 1, state_size_, 0);
    too_fresh_ = std::find(fresh_.begin(), fresh_.end(), state) != fresh_.end();
  }
  return hits;
}

// Specified: vLLM's scheduler, `_mamba_block_aligned_split`.
std::int32_t GroupedKv::split_at_states(const SequenceState& s, std::int32_t from, std::int32_t n) const {
  if (from >= std::max(s.request.prompt_tokens, s.tokens() - 1)) return n;
  const std::int32_t last = s.tokens() / state_size_ * state_size_;
  if (from + n < last) return n / state_size_ * state_size_;
  return from < last && last < from + n ? last - from : n;
}

bool GroupedKv::admits(const SequenceState& s, const Table&, const PrefixHits& hits, std::int32_t tokens, std::int64_t,
                       bool alone) const {
  if (too_fresh_) return false;
  std::int64_t whole = 0, now = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const KvKind& k = kinds_[i];
    if (k.keeps == KvKeeps::Fixed) {
      whole += std::int64_t{k.groups} * k.pages;
      now += std::int64_t{k.groups} * k.pages;
      continue;
    }
    const std::int32_t had = hits.tokens / k.block_size;
    whole += std::int64_t{k.groups} * std::max(0, more_pages(k, s.tokens(), had, most_[i]));
    now += std::int64_t{k.groups} * std::max(0, more_pages(k, tokens, had, never));
  }
  const std::int64_t need = (whole_prompt_ ? std::max(whole, now) : now) + unreferenced_;
  return need + (alone ? 0 : watermark_) <= store_->free();
}

void GroupedKv::start(const SequenceState& s, Table& t, const PrefixHits& hits) {
  t.kinds.assign(kinds_.size(), {});
  store_->take_planned(t);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const KvKind& k = kinds_[i];
    PageTable::Kind& held = t.kinds[i];
    const Found pages = found(k, hits.tokens);
    held.first = counts_tokens(k) ? pages.first : 0;
    held.end = held.published = pages.end;
    if (counts_tokens(k))
      skipped_ += std::int64_t{k.groups} * held.first;
    else
      whole_ += std::int64_t{k.groups} * (pages.end - pages.first);
    if (k.keeps != KvKeeps::Fixed) continue;
    store_->append(t, i, 0, k.pages);
    held.end = k.pages;
    whole_ += std::int64_t{k.groups} * k.pages;
  }
  take(t, s.computed);
}

bool GroupedKv::turn_pages(const SequenceState& s, Table& t, std::int32_t tokens) {
  skip(s, t);
  std::int64_t need = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i].keeps != KvKeeps::Fixed)
      need += std::int64_t{kinds_[i].groups} * std::max(0, more_pages(kinds_[i], tokens, t.kinds[i].end, never));
  if (need > store_->free()) {
    set_marks(t);
    return false;
  }
  take(t, tokens);
  return true;
}

// Pages that nothing looks at any more go back. A state is read by the step that follows only, in the order in which
// steps run, so its predecessor goes when that step is scheduled.
void GroupedKv::skip(const SequenceState& s, Table& t) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const KvKind& k = kinds_[i];
    PageTable::Kind& held = t.kinds[i];
    if (k.keeps == KvKeeps::State) {
      if (held.older < 0 || held.older >= skipped_pages(k, s.computed)) continue;
      drop(t, i, held.older, held.older + 1, -1);
      held.older = -1;
      continue;
    }
    const std::int32_t first = std::min(skipped_pages(k, s.settled), held.end);
    if (first <= held.first) continue;
    drop(t, i, held.first, first, -1);
    skipped_ += std::int64_t{k.groups} * (first - held.first);
    held.first = first;
  }
}

// Requires: enough free pages.
void GroupedKv::take(Table& t, std::int32_t tokens) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const KvKind& k = kinds_[i];
    PageTable::Kind& held = t.kinds[i];
    const std::int32_t end = k.keeps == KvKeeps::Fixed ? held.end : pages_for(tokens, k.block_size);
    if (end <= held.end) continue;
    if (k.keeps == KvKeeps::State) {
      store_->append(t, i, end - 1, end);
      held.older = held.end - 1;
      whole_ += k.groups;
    } else {
      store_->append(t, i, held.end, end);
    }
    held.end = end;
  }
  set_marks(t);
}

void GroupedKv::set_marks(Table& t) const {
  t.room = t.free_at = t.publish_at = never;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const KvKind& k = kinds_[i];
    const PageTable::Kind& held = t.kinds[i];
    if (k.keeps == KvKeeps::Fixed) continue;
    t.room = std::min(t.room, held.end * k.block_size);
    t.publish_at = std::min(t.publish_at, (held.published + 1) * k.block_size);
    if (k.keeps == KvKeeps::Window || k.keeps == KvKeeps::Chunk)
      t.free_at = std::min(t.free_at, next_skip(k, held.first));
    if (held.older >= 0) t.free_at = 0;
  }
}

void GroupedKv::publish_pages(const SequenceState& s, Table& t) {
  const std::int32_t computed = std::min(s.computed, s.tokens());
  t.publish_at = never;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const KvKind& k = kinds_[i];
    PageTable::Kind& held = t.kinds[i];
    if (k.keeps == KvKeeps::Fixed) continue;
    const std::int32_t full = computed / k.block_size;
    const bool state = k.keeps == KvKeeps::State;
    if (full > held.published && (!state || full * k.block_size == computed)) {
      store_->publish(s, t, i, state ? full - 1 : held.published, full);
      if (state) fresh_.push_back(key_in_group(s.request, full - 1, k.block_size, 0));
      held.published = full;
    }
    t.publish_at = std::min(t.publish_at, (held.published + 1) * k.block_size);
  }
}

void GroupedKv::drop(Table& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older) {
  store_->drop(t, kind, lo, hi, older);
  const std::int32_t pages = hi - lo + (older >= 0 ? 1 : 0);
  if (!counts_tokens(kinds_[kind])) whole_ -= std::int64_t{kinds_[kind].groups} * pages;
}

void GroupedKv::retire(Table& t) {
  t.retired = true;
}

void GroupedKv::release(Table& t) {
  for (std::size_t i = 0; i < t.kinds.size(); ++i) {
    PageTable::Kind& held = t.kinds[i];
    if (kinds_[i].keeps == KvKeeps::State) {
      drop(t, i, held.end - 1, held.end, held.older);
      continue;
    }
    drop(t, i, held.first, held.end, -1);
    skipped_ -= std::int64_t{kinds_[i].groups} * held.first;
  }
  t.kinds.clear();
  for (std::vector<memory::BlockId>& ids : t.ids) ids.clear();
  if (t.retired) t.given.clear();
  t.retired = false;
}

SlotUse GroupedKv::slots(std::int64_t computed) const {
  const std::int64_t held = (references() - whole_ + skipped_) * block_size_;
  SlotUse use;
  use.internal = held - static_cast<std::int64_t>(static_cast<double>(computed) * slots_a_token_);
  use.tokens = used() * block_size_ - use.internal;
  return use;
}

}  // namespace servecast::engine
