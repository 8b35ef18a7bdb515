// One serving replica: a scheduler, one block pool per data-parallel rank and one lane per pipeline stage. It owns no
// clock, no workload and no network: the cluster supplies time, the replica returns a Run (steps whose ends are known),
// and the cluster commits it at its end.
//
// Call order: enqueue()* -> advance(now) -> [ enqueue() + cut(t) ]* -> commit() at run.end -> advance ...
// Cutting a run anywhere, or not at all, never changes what happens: only how many events it takes.
// Deliberately absent: arrival processes, routing, KV transfer.
#pragma once

#include "core/time.hpp"
#include "cost/step_cost.hpp"
#include "engine/transfer.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <span>

namespace servecast::engine {

// A number of steps that will happen unless cut. steps == 0: nothing could be scheduled; if the end is later than the
// begin, something can be then (content is on its way), so ask again.
struct Run {
  core::Time begin;
  core::Time end;
  std::int32_t steps = 0;
};

// What a router may see of a replica. waiting and running are exact at every instant; block counts are those of the
// last scheduled or committed step.
struct Load {
  std::int32_t waiting = 0;
  std::int32_t running = 0;
  std::int64_t blocks_used = 0;
  std::int64_t blocks_cached = 0;  // unreferenced but holding reusable content
  std::int64_t blocks_total = 0;
  std::int64_t blocks_host = 0;  // that tiers below the GPU keep of cached prefixes
  std::int64_t blocks_storage = 0;
};

// What slots of KV memory (one token each) hold. What is left of the pool is free.
struct SlotUse {
  std::int64_t tokens = 0;    // tokens whose KV is there
  std::int64_t reserved = 0;  // kept for tokens that will come
  std::int64_t internal = 0;  // given to a request that will never use them
  std::int64_t external = 0;  // given to nobody and of no use: lost to rounding, or too small for the next in line
};

// Neutral observations, in simulated order. Order inside one step's end is unspecified.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void first_token(workload::RequestId id, core::Time at) = 0;
  virtual void finished(workload::RequestId id, core::Time at, std::int32_t output_tokens) = 0;
  virtual void preempted(workload::RequestId id, core::Time at) = 0;
  virtual void prefix_lookup(workload::RequestId id, std::int32_t queried_tokens, std::int32_t hit_tokens,
                             bool after_preemption) = 0;
  // `weight` requests saw this gap between two of their tokens.
  virtual void token_gap(core::Duration gap, std::int64_t weight) = 0;
  // The same for steps that follow each other: a token before the first, at `since`, and one at every end of a step.
  virtual void token_gaps(core::Time since, std::span<const core::Time> ends, std::int64_t weight) {
    for (const core::Time end : ends) {
      token_gap(end - since, weight);
      since = end;
    }
  }
};

// An amount integrated over time, amount x ps. Exact, so that it is the same however the time is cut into runs.
__extension__ using Integral = __int128;

// SlotUse integrated over busy time.
struct SlotTime {
  Integral tokens = 0, reserved = 0, internal = 0, external = 0;
  bool operator==(const SlotTime&) const = default;
};

// Sums over the life of a replica; conserved quantities are checked against them.
struct Totals {
  std::int64_t steps = 0;
  std::int64_t prefill_tokens = 0;  // computed, recomputation included
  std::int64_t decode_tokens = 0;   // output tokens made by decode steps
  std::int64_t padded_tokens = 0;
  std::int64_t preemptions = 0;
  std::int64_t wasted_slots = 0;  // decode slots spent on a request already stopped (asynchronous scheduling)
  std::int64_t peak_blocks_used = 0;
  std::int64_t swapped_out_blocks = 0;
  std::int64_t swapped_in_blocks = 0;
  std::int64_t loaded_blocks = 0;  // cached prefixes, from the host
  std::int64_t stored_blocks = 0;
  TierUse tiers;
  std::int64_t copied_blocks = 0;  // on write, because another sequence shared them
  core::Duration busy, compute, memory, network, host;
  std::int64_t scale_up_bytes = 0;
  std::int64_t energy_uj = 0;  // of one rank, beyond waiting with its model loaded
  double peak_uj_per_ps = 0;   // of the hungriest step, over its duration
  // Over busy time: divide by it for means.
  Integral block_time = 0;
  Integral saved_block_time = 0;  // blocks more that were in use if every request had its own
  Integral running_time = 0;
  SlotTime slots;
  bool operator==(const Totals&) const = default;
};

class Replica {
 public:
  virtual ~Replica() = default;

  // A request arrives in the waiting queue of data-parallel rank `rank`.
  virtual void enqueue(const workload::Request& request, std::int32_t rank) = 0;
  // Schedules at `now` and returns the run. Requires: no run in progress. horizon: the run need not reach past it.
  // offer: what the links give the run's steps; the cluster cuts the run when that changes.
  virtual Run advance(core::Time now, core::Time horizon, const cost::LinkOffer& offer) = 0;
  // Something arrived at t inside the run in progress: ends it at the first step end >= t if that matters, and
  // returns the run as it now stands.
  virtual Run cut(core::Time t) = 0;
  // The simulation ends at t: as cut(), whether it matters or not.
  virtual Run stop(core::Time t) { return cut(t); }
  // Applies the run in progress and reports to the observer.
  virtual void commit() = 0;
  virtual bool running() const = 0;   // a run is in progress
  virtual bool has_work() const = 0;  // some request is waiting or running
  virtual Load load(std::int32_t rank) const = 0;
  virtual SlotUse slots(std::int32_t rank) const = 0;  // of the last scheduled or committed step
  virtual Totals totals() const = 0;
  // What was asked to be moved when the last run was scheduled, in order.
  virtual std::span<const Transfer> transfers() const { return {}; }
};

}  // namespace servecast::engine
