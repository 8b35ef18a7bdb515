// Cached prefixes in host memory, as one replica sees them: which blocks are there, what a step loads and stores, and
// how long that holds the step up. Loads come before the step, which needs them; stores go the other way while it runs,
// and hold up the next one where they take longer. It does not know requests.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"
#include "memory/host_tier.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace servecast::engine {

class PrefixOffload {
 public:
  explicit PrefixOffload(const Config& config)
      : host_(config.enable_prefix_caching ? config.offload_blocks : 0),
        write_(config.offload_write),
        block_bytes_(config.block_bytes),
        link_(config.host_link) {}

  bool empty() const { return host_.held() == 0; }
  bool holds(memory::ContentKey key) const { return host_.holds(key); }
  void load(memory::ContentKey key) {  // Requires: holds(key)
    host_.touch(key);
    ++loads_;
  }
  void filled(memory::ContentKey key) {
    if (write_ == OffloadWrite::Through) store(key);
  }
  void evicted(memory::ContentKey key) {
    if (write_ == OffloadWrite::Back && key != 0) store(key);
  }

  // A step begins: nothing is moved yet.
  void begin() { loads_ = stores_ = 0; }
  // Lengthens the step by what was asked for since begin().
  void play(cost::StepTime& step, Totals& totals);
  std::span<const Transfer> transfers() const { return transfers_; }

 private:
  void store(memory::ContentKey key) { stores_ += host_.insert(key) ? 1 : 0; }

  memory::HostTier host_;
  OffloadWrite write_;
  double block_bytes_;
  HostLink link_;
  std::int64_t loads_ = 0, stores_ = 0;  // blocks of this step
  std::vector<Transfer> transfers_;
};

inline void PrefixOffload::play(cost::StepTime& step, Totals& totals) {
  transfers_.clear();
  core::Duration loading{0}, storing{0};
  const auto move = [this](TransferKind kind, std::int64_t blocks, core::Duration& time) {
    if (blocks == 0) return;
    transfers_.push_back({kind, blocks, static_cast<std::int64_t>(static_cast<double>(blocks) * block_bytes_)});
    time += link_.time(transfers_.back());
  };
  move(TransferKind::Load, loads_, loading);
  move(TransferKind::Store, stores_, storing);
  totals.loaded_blocks += loads_;
  totals.stored_blocks += stores_;
  const core::Duration total = std::max(step.total + loading, storing);
  step.network += total - step.total;
  step.total = total;
}

}  // namespace servecast::engine
