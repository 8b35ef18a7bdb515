// What the step-by-step schedulers keep of a request, and the few things they all do with it: its content chain, its
// share of a step, its tokens. Blocks and queues belong to each scheduler.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/replica.hpp"
#include "workload/request.hpp"

#include <cstdint>

namespace servecast::engine {

enum class Phase : std::uint8_t { Prefill, Decode };

struct SequenceState {
  workload::Request request;
  std::int32_t generated = 0;
  std::int32_t computed = 0;   // tokens whose KV is in the pool
  std::int32_t settled = 0;    // of these, those of steps that have ended, as an asynchronous scheduler knows them
  std::int32_t from = 0;       // this step: first token computed
  std::int32_t scheduled = 0;  // this step: tokens computed
  Phase phase = Phase::Prefill;
  bool was_preempted = false;
  bool stopped = false;  // emitted its last token, which the scheduler does not know yet
  core::Time last_token;

  std::int32_t tokens() const { return request.prompt_tokens + generated; }
  std::int32_t output() const { return request.hidden.output_tokens; }
};

inline std::int64_t blocks_for(std::int64_t tokens, std::int64_t block_size) {
  return (tokens + block_size - 1) / block_size;
}

// Longest output an engine must expect: what the client states, or the true length where it states nothing, as
// benchmarks ask for exactly that.
inline std::int32_t output_limit(const workload::Request& request, std::int32_t max_model_len) {
  const std::int32_t room = max_model_len - request.prompt_tokens;
  const std::int32_t stated = request.max_tokens < room ? request.max_tokens : room;
  return stated > request.hidden.output_tokens ? stated : request.hidden.output_tokens;
}

// Chain of tokens that nobody else has.
inline std::uint64_t private_chain(workload::RequestId id) { return 0x8000000000000000ull | id.value; }

// Adds the token that a decoding sequence computes in this step.
inline void charge_decode(const SequenceState& s, std::int32_t window, cost::StepShape& shape) {
  const std::int32_t end = s.from + s.scheduled;
  ++shape.decode_requests;
  ++shape.sampled_rows;
  shape.decode_context += end;
  if (window > 0) shape.decode_context_windowed += end < window ? end : window;
}

// Adds what the sequence computes in this step. window: of the model's attention, 0 if it has none.
void charge(const SequenceState& s, const cost::StepCost& cost, std::int32_t window, cost::StepShape& shape);

// The sequence's next token, at the end of a step.
void emit(SequenceState& s, Observer& observer, core::Time at);

// What one step did, beside its time.
struct StepCount {
  std::int32_t decoders = 0;  // that emitted a token
  std::int32_t wasted = 0;
  std::int32_t prefill_tokens = 0;
  std::int64_t used = 0;     // blocks
  std::int64_t saved = 0;    // more that it would be if nothing were shared
  std::int32_t running = 0;  // requests
  SlotUse slots;
};

// Slots of a paged pool. tokens: as each request counts its own. Only last blocks have empty slots, and those are their
// request's own.
inline SlotUse paged_use(std::int64_t used, std::int64_t logical, std::int64_t tokens, std::int64_t block_size) {
  SlotUse use;
  use.internal = logical * block_size - tokens;
  use.tokens = used * block_size - use.internal;
  return use;
}

inline void add_time(Totals& totals, const cost::StepTime& time) {
  totals.busy += time.total;
  totals.compute += time.compute;
  totals.memory += time.memory;
  totals.network += time.network;
  totals.host += time.host;
  totals.scale_up_bytes += time.scale_up_bytes;
  totals.energy_uj += time.energy_uj;
  const auto energy = static_cast<double>(time.energy_uj);
  const auto ps = static_cast<double>(time.total.ps);
  if (energy > totals.peak_uj_per_ps * ps) totals.peak_uj_per_ps = energy / ps;
}

inline void add_step(Totals& totals, const cost::StepTime& time, const StepCount& count) {
  ++totals.steps;
  totals.decode_tokens += count.decoders;
  totals.wasted_slots += count.wasted;
  totals.prefill_tokens += count.prefill_tokens;
  add_time(totals, time);
  if (count.used > totals.peak_blocks_used) totals.peak_blocks_used = count.used;
  const Integral ps = time.total.ps;
  totals.block_time += count.used * ps;
  totals.saved_block_time += count.saved * ps;
  totals.running_time += count.running * ps;
  totals.slots.tokens += count.slots.tokens * ps;
  totals.slots.internal += count.slots.internal * ps;
  totals.slots.reserved += count.slots.reserved * ps;
  totals.slots.external += count.slots.external * ps;
}

}  // namespace servecast::engine
