#include "scenario/sampler.hpp"

namespace servecast::scenario {

void Sampler::start() {
  simulation_.at(simulation_.now(), core::Rank::Observation, [this] { sample(); });
}

void Sampler::sample() {
  Sample s{simulation_.now(), static_cast<std::int64_t>(cluster_.arrived() - cluster_.finished()), {}};
  for (std::size_t i = 0; i < cluster_.replicas(); ++i) {
    const engine::Load load = cluster_.replica(i).load(0);
    s.pool.waiting += load.waiting;
    s.pool.running += load.running;
    s.pool.blocks_used += load.blocks_used;
    s.pool.blocks_cached += load.blocks_cached;
    s.pool.blocks_total += load.blocks_total;
    s.pool.blocks_host += load.blocks_host;
    s.pool.blocks_storage += load.blocks_storage;
    const engine::SlotUse slots = cluster_.replica(i).slots(0);
    s.pool.tokens_held += slots.tokens;
    s.pool.slots_reserved += slots.reserved;
    s.pool.slots_internal += slots.internal;
    s.pool.slots_external += slots.external;
  }
  samples_.push_back(s);
  if (samples_.size() >= most_samples) thin_out();
  if (!cluster_.drained()) simulation_.after(interval_, core::Rank::Observation, [this] { sample(); });
}

void Sampler::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
  samples_.resize(kept);
  interval_ = interval_ * 2;
}

metrics::Timeline Sampler::timeline(std::string pool, bool tiers) const {
  metrics::Timeline out({std::move(pool)}, tiers);
  for (const Sample& s : samples_) out.add(s.at, s.in_flight, {&s.pool, 1});
  return out;
}

}  // namespace servecast::scenario
