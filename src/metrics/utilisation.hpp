// Where the time and the room of the replicas went: shares of their time by what bounds it, and mean use of the three
// things a scheduler can run out of (sequence slots, KV blocks, tokens of a step).
#pragma once

#include "engine/replica.hpp"

#include <cstdint>
#include <string_view>

namespace servecast::metrics {

// Shares of replica time; they sum to 1. The last step of a replica may outlast the run it belongs to, so that very
// short runs are busier than they are long; their shares are of the busy time.
struct TimeShares {
  double compute = 0, memory = 0, network = 0, host = 0, idle = 0;
};

// Mean use over replica time, each 0 to 1. At saturation one of them is near 1, whatever the cost model says. With one
// sequence slot it is the utilisation of queueing theory; where batches grow with the load it is less than the load.
struct Occupancy {
  double sequence_slots = 0, kv_blocks = 0, step_tokens = 0;
  double largest() const;
};

// Shares of the KV memory's slots over busy time; they sum to 1. Names are those of the PagedAttention study: a slot
// holds a token's KV, is kept for one to come, is lost inside what a request was given, is lost between, or is free.
struct KvUse {
  double token_states = 0, reservation = 0, internal = 0, external = 0, free = 0;
  double waste() const { return reservation + internal + external; }
};

// What one replica may use, equal over the replicas that are summed.
struct ReplicaLimits {
  std::int32_t max_num_seqs = 0;
  std::int64_t blocks = 0;
  std::int32_t max_num_batched_tokens = 0;
};

// sum: Totals added over `replicas` replicas that each lived for `elapsed`.
void add_totals(engine::Totals& sum, const engine::Totals& other);
TimeShares time_shares(const engine::Totals& sum, core::Duration elapsed, std::int64_t replicas);
Occupancy occupancy(const engine::Totals& sum, core::Duration elapsed, std::int64_t replicas,
                    const ReplicaLimits& limits);

// slots: of one replica.
KvUse kv_use(const engine::Totals& sum, std::int64_t slots);

// kv_memory, sequence_slots or step_tokens when one is nearly exhausted; otherwise what most of the busy time waits
// for: compute, memory_bandwidth, network or host; "none" when nothing ran.
std::string_view limiting_resource(const TimeShares& time, const Occupancy& room);

}  // namespace servecast::metrics
