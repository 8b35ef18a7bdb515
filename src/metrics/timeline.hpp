// Samples of the cluster's state over time, for timeline.csv and charts. One flat row of pools per sample.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace servecast::metrics {

// One pool at one instant, summed over its replicas.
struct PoolSample {
  std::int32_t waiting = 0;
  std::int32_t running = 0;
  std::int64_t blocks_used = 0;
  std::int64_t blocks_cached = 0;
  std::int64_t blocks_total = 0;
  std::int64_t tokens_held = 0;  // slots of KV memory by what they hold, as engine::SlotUse
  std::int64_t slots_reserved = 0;
  std::int64_t slots_internal = 0;
  std::int64_t slots_external = 0;
  std::int64_t blocks_host = 0;  // of cached prefixes below the GPU
  std::int64_t blocks_storage = 0;
};

class Timeline {
 public:
  // tiers: pools keep cached prefixes below the GPU.
  explicit Timeline(std::vector<std::string> pools = {}, bool tiers = false);

  // in_flight: requests in the cluster. pools: one per name, in order. Instants never decrease.
  void add(core::Time at, std::int64_t in_flight, std::span<const PoolSample> pools);

  std::size_t size() const { return times_.size(); }
  const std::vector<std::string>& pools() const { return names_; }
  bool tiers() const { return tiers_; }
  core::Time time(std::size_t i) const { return times_[i]; }
  std::int64_t in_flight(std::size_t i) const { return in_flight_[i]; }
  std::span<const PoolSample> sample(std::size_t i) const {
    return {samples_.data() + i * names_.size(), names_.size()};
  }

 private:
  std::vector<std::string> names_;
  bool tiers_ = false;
  std::vector<core::Time> times_;
  std::vector<std::int64_t> in_flight_;
  std::vector<PoolSample> samples_;
};

}  // namespace servecast::metrics
