// Cached prefixes on the host and on storage, as one replica of paged blocks sees them: which blocks are where, what a
// step loads and stores, and how long that holds it up. Loads come before the step that needs them, or beside earlier
// steps. What a step fills is stored while the next one runs, what it evicts while it runs itself; either holds a step
// up that ends sooner, as do writes to storage. It does not know requests.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/offload_links.hpp"
#include "engine/replica.hpp"
#include "memory/tier_stack.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace servecast::engine {

// How often blocks were looked up beyond the GPU, of the last 64,000 that were. Specified: vLLM's reuse_manager.py.
class SeenBlocks {
 public:
  void seen(memory::ContentKey key) {
    if (order_.holds(key)) {
      order_.touch(key);
    } else if (const memory::ContentKey out = order_.insert(key); out != 0) {
      counts_.erase(out);
    }
    ++counts_[key];
  }
  bool twice(memory::ContentKey key) const {
    const auto found = counts_.find(key);
    return found != counts_.end() && found->second >= 2;
  }

 private:
  memory::LruSet order_{64'000};
  boost::unordered_flat_map<memory::ContentKey, std::int32_t> counts_;  // never iterated
};

class PrefixOffload {
 public:
  explicit PrefixOffload(const Config& config)
      : tiers_(config.enable_prefix_caching ? config.offload_blocks : 0, config.storage_blocks),
        write_(config.offload_write),
        block_size_(config.block_size),
        links_(config) {}

  bool empty() const { return tiers_.empty(); }
  const memory::TierStack& tiers() const { return tiers_; }
  memory::Tier find(memory::ContentKey key) const { return tiers_.find(key); }
  // A block is wanted on the GPU. Requires: find(key), which gave `tier`, and no other content lost its place since but
  // by load().
  void load(memory::ContentKey key, memory::Tier tier) {
    const std::int64_t before = tiers_.demoted();
    tiers_.read(key);
    writes_ += tiers_.demoted() - before;
    ++loads_;
    reads_ += tier == memory::Tier::Storage ? 1 : 0;
  }
  // A request asked for a block that the GPU does not have.
  void looked_up(memory::ContentKey key) {
    if (write_ == OffloadWrite::ThroughSelective) seen_.seen(key);
  }
  void filled(memory::ContentKey key) {
    if (write_ == OffloadWrite::Through || (write_ == OffloadWrite::ThroughSelective && seen_.twice(key)))
      store(key, later_stores_, later_writes_);
  }
  void evicted(memory::ContentKey key) {
    if (write_ == OffloadWrite::Back && key != 0) store(key, stores_, writes_);
  }

  // The scheduler begins: nothing is asked for yet.
  void begin() { links_.clear_transfers(); }
  // Moves what was asked for with load() beside the steps, from now on; returns when it is there.
  core::Time fetch(core::Time now) { return move(now); }
  // Lengthens the step that starts now by what was asked for and not fetched.
  void play(core::Time now, cost::StepTime& step, Totals& totals);
  std::span<const Transfer> transfers() const { return links_.transfers(); }

 private:
  void store(memory::ContentKey key, std::int64_t& stores, std::int64_t& writes) {
    const std::int64_t before = tiers_.demoted();
    stores += tiers_.insert(key) ? 1 : 0;
    writes += tiers_.demoted() - before;
  }
  core::Time move(core::Time now);

  memory::TierStack tiers_;
  OffloadWrite write_;
  std::int32_t block_size_;
  OffloadLinks links_;
  SeenBlocks seen_;
  std::int64_t loads_ = 0, reads_ = 0, stores_ = 0, writes_ = 0;  // blocks asked for
  std::int64_t later_stores_ = 0, later_writes_ = 0;              // at the end of the step
  std::int64_t loaded_ = 0;                                       // so far
  core::Time stored_, written_;                                   // when what was asked for is there
};

inline core::Time PrefixOffload::move(core::Time now) {
  const core::Time there = links_.load(now, loads_, reads_);
  links_.use().storage_hit_tokens += reads_ * block_size_;
  links_.use().host_hit_tokens += (loads_ - reads_) * block_size_;
  loaded_ += loads_;
  loads_ = reads_ = 0;
  return there;
}

inline void PrefixOffload::play(core::Time now, cost::StepTime& step, Totals& totals) {
  const core::Duration loading = move(now) - now;
  const core::Time stored = std::max(stored_, links_.store(now, stores_));
  const core::Time written = std::max(written_, links_.write(now, writes_));
  const core::Duration total = std::max({step.total + loading, stored - now, written - now});
  stored_ = links_.store(now + total, later_stores_);
  written_ = links_.write(now + total, later_writes_);
  totals.stored_blocks += stores_ + later_stores_;
  totals.loaded_blocks = loaded_;
  stores_ = writes_ = later_stores_ = later_writes_ = 0;
  links_.use().held_up += total - step.total;
  totals.tiers = links_.use();
  step.network += total - step.total;
  step.total = total;
}

}  // namespace servecast::engine
