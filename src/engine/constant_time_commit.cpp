#include "engine/constant_time_replica.hpp"

#include <algorithm>

namespace servecast::engine {

using core::Time;

void ConstantTime::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  account();
  step_ += run_.steps;
  context_ += static_cast<std::int64_t>(decoders_) * run_.steps;
  if (calendar_.occupied(step_ - 1)) finish_due(run_.end);
  for (const Candidate& candidate : joins_) join(candidate, run_.end);
  joins_.clear();
  if (new_limbo_seats_ > 0 || !ended_.empty()) settle();
}

void ConstantTime::account() {
  const auto prefilling = static_cast<std::int32_t>(joins_.size()) + (partial_active_ ? 1 : 0);
  const std::int32_t emitting = decoders_ - stopped_;
  totals_.steps += run_.steps;
  totals_.decode_tokens += std::int64_t{emitting} * run_.steps;
  totals_.wasted_slots += std::int64_t{stopped_} * run_.steps;
  totals_.prefill_tokens += shape_.prefill_tokens;
  std::int64_t tokens = held_tokens();
  account_step(times_[0], tokens + limbo_tokens_, decoders_ + prefilling);
  if (limbo_seats_ > 0) release_limbo();
  crossing_at_ = next_crossing(crossing_at_);
  for (std::int32_t i = 1; i < run_.steps; ++i) {
    take(crossing_[static_cast<std::size_t>(crossing_at_)]);
    crossing_at_ = next_crossing(crossing_at_);
    tokens += decoders_;
    account_step(times_[static_cast<std::size_t>(i)], tokens, decoders_);
  }
  if (emitting > 0)
    observer_.token_gaps(run_.begin, std::span(ends_).first(static_cast<std::size_t>(run_.steps)), emitting);
}

// Everything that add_step adds and account() does not; slots are left to totals().
void ConstantTime::account_step(const cost::StepTime& time, std::int64_t tokens, std::int32_t seated) {
  add_time(totals_, time);
  const std::int64_t used = this->used();
  const Integral ps = time.total.ps;
  totals_.peak_blocks_used = std::max(totals_.peak_blocks_used, used);
  totals_.block_time += used * ps;
  if (logical_ != used) totals_.saved_block_time += (logical_ - used) * ps;
  totals_.running_time += seated * ps;
  token_time_ += tokens * ps;
}

Totals ConstantTime::totals() const {
  Totals all = totals_;
  const Integral slots = all.block_time * config_.block_size;
  all.slots.internal = slots + all.saved_block_time * config_.block_size - token_time_;  // as paged_use
  all.slots.tokens = slots - all.slots.internal;
  return all;
}

// Requests that end with this step. Where they share content, their order decides what is evicted first.
void ConstantTime::finish_due(Time at) {
  if (!shared_) {
    calendar_.take(step_ - 1, [this, at](std::int32_t slot) { finish_slot(slot, at); });
    return;
  }
  finishing_.clear();
  calendar_.take(step_ - 1, [this](std::int32_t slot) { finishing_.push_back(slot); });
  std::sort(finishing_.begin(), finishing_.end(), [this](std::int32_t a, std::int32_t b) {
    return slots_[static_cast<std::size_t>(a)].admission < slots_[static_cast<std::size_t>(b)].admission;
  });
  for (const std::int32_t slot : finishing_) finish_slot(slot, at);
}

void ConstantTime::finish_slot(std::int32_t index, Time at) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.stopped) {
    --stopped_;
    reserved_ -= blocks_for(slot.prompt + slot.limit);
    vacate(index);
    retire(leaving(table_in(index), slot.base + step_), false);
    return;
  }
  observer_.finished(slot.id, at, slot.output);
  if (wastes_slot(slot.prompt + slot.output)) {
    slot.stopped = true;
    ++stopped_;
    calendar_.insert(index, step_);
    return;
  }
  reserved_ -= blocks_for(slot.prompt + slot.limit);
  vacate(index);
  retire(leaving(table_in(index), slot.base + step_), true);
}

// A finished request's blocks and seat: at the end of the run, or one step later under asynchronous scheduling.
void ConstantTime::retire(Leaving left, bool late) {
  left.late = late && config_.async_scheduling;
  if (left.late) {
    ++new_limbo_seats_;
    new_limbo_tokens_ += left.tokens;
  }
  if (shared_)
    ended_.push_back(left);
  else if (left.late)
    new_limbo_blocks_ += left.blocks;
  else
    give(left);
}

// What ended waits a step while others work; else it goes back now, in order.
void ConstantTime::settle() {
  limbo_seats_ = new_limbo_seats_;
  limbo_blocks_ = limbo_private_ = new_limbo_blocks_;
  limbo_tokens_ = new_limbo_tokens_;
  new_limbo_blocks_ = new_limbo_tokens_ = new_limbo_seats_ = 0;
  if (shared_) settle_shared();
  if (limbo_seats_ > 0 && !has_work()) release_limbo();
}

void ConstantTime::settle_shared() {
  const bool waits = has_work();
  for (const Leaving& left : ended_) {
    if (!waits || !left.late) {
      give(left);
      continue;
    }
    limbo_.push_back(left);
    limbo_blocks_ += left.blocks;
    limbo_private_ += left.table == memory::RunPool::none ? left.blocks : left.blocks - pool_.published(left.table);
  }
  ended_.clear();
}

bool ConstantTime::release_limbo() {
  const bool any = limbo_seats_ > 0;
  if (shared_) {
    for (const Leaving& left : limbo_) give(left);
    limbo_.clear();
  } else {
    logical_ -= limbo_blocks_;
    pool_.give(limbo_blocks_, 0);
  }
  limbo_blocks_ = limbo_private_ = limbo_tokens_ = 0;
  limbo_seats_ = 0;
  return any;
}

// The step that ended at `at` completed this prefill: it emits a token.
void ConstantTime::join(const Candidate& candidate, Time at) {
  Candidate joined = candidate;
  ++joined.generated;
  if (joined.generated == 1)
    observer_.first_token(joined.id, at);
  else
    observer_.token_gap(at - joined.last_token, 1);
  if (joined.generated < joined.output) {
    seat(joined, false);
    return;
  }
  observer_.finished(joined.id, at, joined.output);
  if (wastes_slot(joined.tokens())) {
    seat(joined, true);
    return;
  }
  reserved_ -= blocks_for(joined.prompt + joined.limit);
  retire(leaving(joined.table, joined.tokens() - 1), true);
}

void ConstantTime::seat(const Candidate& candidate, bool stopped) {
  const std::int32_t index = spare_slots_.back();
  spare_slots_.pop_back();
  const std::int64_t computed = candidate.tokens() - 1;
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  slot = {candidate.id, candidate.prompt, candidate.output, candidate.limit, computed - step_, candidate.admission, 0,
          stopped};
  const std::int32_t residue = static_cast<std::int32_t>(computed) % config_.block_size + crossing_at_;
  slot.residue = residue < config_.block_size ? residue : residue - config_.block_size;
  ++crossing_[static_cast<std::size_t>(slot.residue)];
  ++decoders_;
  context_ += computed + 1;
  if (stopped) ++stopped_;
  if (shared_) begin_writing(index, candidate.table);
  // Emits one token a step from step_ on: the last one after output - generated steps.
  const std::int32_t steps = stopped ? 1 : candidate.output - candidate.generated;
  calendar_.insert(index, step_ + steps - 1);
}

// Takes a decoder out of the sums. Requires: already out of the calendar.
void ConstantTime::vacate(std::int32_t index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (shared_) end_writing(index);
  --crossing_[static_cast<std::size_t>(slot.residue)];
  --decoders_;
  context_ -= slot.base + step_ + 1;
  slot.admission = -1;
  spare_slots_.push_back(index);
}

}  // namespace servecast::engine
