#include "metrics/timeline.hpp"

#include "core/error.hpp"

#include <utility>

namespace servecast::metrics {

Timeline::Timeline(std::vector<std::string> pools, bool tiers) : names_(std::move(pools)), tiers_(tiers) {}

void Timeline::add(core::Time at, std::int64_t in_flight, std::span<const PoolSample> pools) {
  SERVECAST_ENSURE(pools.size() == names_.size(), "{} pools sampled, {} named", pools.size(), names_.size());
  SERVECAST_ENSURE(times_.empty() || at >= times_.back(), "sample at {} ps after one at {} ps", at.ps,
                   times_.back().ps);
  times_.push_back(at);
  in_flight_.push_back(in_flight);
  samples_.insert(samples_.end(), pools.begin(), pools.end());
}

}  // namespace servecast::metrics
