#include "metrics/utilisation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace servecast::metrics {

namespace {

// Mean use above which a resource of the scheduler counts as exhausted. Assumed: batches seldom fill to the last
// block or slot, because the next request in line does not fit.
constexpr double exhausted = 0.9;

void add_tiers(engine::TierUse& sum, const engine::TierUse& other) {
  sum.host_hit_tokens += other.host_hit_tokens;
  sum.storage_hit_tokens += other.storage_hit_tokens;
  sum.storage_read_blocks += other.storage_read_blocks;
  sum.storage_written_blocks += other.storage_written_blocks;
  sum.in += other.in;
  sum.out += other.out;
  sum.read += other.read;
  sum.write += other.write;
  sum.held_up += other.held_up;
}

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; }

}  // namespace

double Occupancy::largest() const { return std::max({sequence_slots, kv_blocks, step_tokens}); }

void add_totals(engine::Totals& sum, const engine::Totals& other) {
  sum.steps += other.steps;
  sum.prefill_tokens += other.prefill_tokens;
  sum.decode_tokens += other.decode_tokens;
  sum.padded_tokens += other.padded_tokens;
  sum.preemptions += other.preemptions;
  sum.wasted_slots += other.wasted_slots;
  sum.peak_blocks_used = std::max(sum.peak_blocks_used, other.peak_blocks_used);
  sum.busy += other.busy;
  sum.compute += other.compute;
  sum.memory += other.memory;
  sum.network += other.network;
  sum.host += other.host;
  sum.scale_up_bytes += other.scale_up_bytes;
  sum.energy_uj += other.energy_uj;
  sum.peak_uj_per_ps = std::max(sum.peak_uj_per_ps, other.peak_uj_per_ps);
  sum.block_time += other.block_time;
  sum.saved_block_time += other.saved_block_time;
  sum.swapped_out_blocks += other.swapped_out_blocks;
  sum.swapped_in_blocks += other.swapped_in_blocks;
  sum.copied_blocks += other.copied_blocks;
  sum.loaded_blocks += other.loaded_blocks;
  sum.stored_blocks += other.stored_blocks;
  add_tiers(sum.tiers, other.tiers);
  sum.running_time += other.running_time;
  sum.slots.tokens += other.slots.tokens;
  sum.slots.reserved += other.slots.reserved;
  sum.slots.internal += other.slots.internal;
  sum.slots.external += other.slots.external;
}

TimeShares time_shares(const engine::Totals& sum, core::Duration elapsed, std::int64_t replicas) {
  const double busy = static_cast<double>((sum.compute + sum.memory + sum.network + sum.host).ps);
  const double whole = std::max(busy, static_cast<double>(elapsed.ps) * static_cast<double>(replicas));
  if (whole <= 0) return {0, 0, 0, 0, 1};
  TimeShares t;
  t.compute = share(static_cast<double>(sum.compute.ps), whole);
  t.memory = share(static_cast<double>(sum.memory.ps), whole);
  t.network = share(static_cast<double>(sum.network.ps), whole);
  t.host = share(static_cast<double>(sum.host.ps), whole);
  t.idle = std::max(0.0, 1.0 - (t.compute + t.memory + t.network + t.host));
  return t;
}

Occupancy occupancy(const engine::Totals& sum, core::Duration elapsed, std::int64_t replicas,
                    const ReplicaLimits& limits) {
  const double whole = static_cast<double>(elapsed.ps) * static_cast<double>(replicas);
  Occupancy o;
  o.sequence_slots = share(static_cast<double>(sum.running_time), whole * limits.max_num_seqs);
  o.kv_blocks = share(static_cast<double>(sum.block_time), whole * static_cast<double>(limits.blocks));
  const double offered = static_cast<double>(sum.steps) * limits.max_num_batched_tokens;
  o.step_tokens = share(static_cast<double>(sum.prefill_tokens + sum.decode_tokens), offered) *
                  share(static_cast<double>(sum.busy.ps), whole);
  return o;
}

KvUse kv_use(const engine::Totals& sum, std::int64_t slots) {
  const double whole = static_cast<double>(sum.busy.ps) * static_cast<double>(slots);
  KvUse use;
  use.token_states = share(static_cast<double>(sum.slots.tokens), whole);
  use.reservation = share(static_cast<double>(sum.slots.reserved), whole);
  use.internal = share(static_cast<double>(sum.slots.internal), whole);
  use.external = share(static_cast<double>(sum.slots.external), whole);
  use.free = std::max(0.0, 1.0 - (use.token_states + use.waste()));
  return use;
}

std::string_view limiting_resource(const TimeShares& time, const Occupancy& room) {
  if (room.largest() >= exhausted) {
    if (room.kv_blocks == room.largest()) return "kv_memory";
    if (room.sequence_slots == room.largest()) return "sequence_slots";
    return "step_tokens";
  }
  const std::array<std::pair<double, std::string_view>, 4> parts = {
      {{time.compute, "compute"}, {time.memory, "memory_bandwidth"}, {time.network, "network"}, {time.host, "host"}}};
  const auto& top = *std::max_element(parts.begin(), parts.end(), [](auto& a, auto& b) { return a.first < b.first; });
  return top.first > 0 ? top.second : "none";
}

}  // namespace servecast::metrics
