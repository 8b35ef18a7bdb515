#include "engine/constant_time_replica.hpp"

#include <algorithm>

namespace servecast::engine {

using core::Time;

void ConstantTime::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  const auto prefilling = static_cast<std::int32_t>(joins_.size()) + (partial_active_ ? 1 : 0);
  totals_.prefill_tokens += shape_.prefill_tokens;
  for (std::int32_t i = 0; i < run_.steps; ++i) {
    if (i > 0) take(crossing(step_ + i));
    account(i, decoders_ + (i == 0 ? prefilling : 0));
    if (i == 0) release_limbo();
  }
  step_ += run_.steps;
  context_ += static_cast<std::int64_t>(decoders_) * run_.steps;
  finish_due(run_.end);
  for (const Candidate& candidate : joins_) join(candidate, run_.end);
  joins_.clear();
  settle();
}

void ConstantTime::account(std::int32_t step, std::int32_t seated) {
  const cost::StepTime& time = times_[static_cast<std::size_t>(step)];
  const std::int32_t emitting = decoders_ - stopped_;
  add_step(totals_, time, {emitting, stopped_, 0, used(), logical_, seated, slots_after(step)});
  if (emitting > 0) observer_.token_gap(time.total, emitting);
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
    retire(leaving(slot.table, slot.base + step_), false);
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
  retire(leaving(slot.table, slot.base + step_), true);
}

// A finished request's blocks and seat: at the end of the run, or one step later under asynchronous scheduling.
void ConstantTime::retire(Leaving left, bool late) {
  left.late = late && config_.async_scheduling;
  if (left.late) ++new_limbo_seats_;
  if (!shared_ && !ended_.empty() && ended_.back().late == left.late)
    ended_.back().blocks += left.blocks;
  else
    ended_.push_back(left);
}

// Gives back what ended, in order, but for what waits a step while others work.
void ConstantTime::settle() {
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
  limbo_seats_ = waits ? new_limbo_seats_ : 0;
  new_limbo_seats_ = 0;
}

bool ConstantTime::release_limbo() {
  const bool any = limbo_seats_ > 0;
  for (const Leaving& left : limbo_) give(left);
  limbo_.clear();
  limbo_blocks_ = limbo_private_ = 0;
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
  slot = {
      candidate.id,    candidate.prompt, candidate.output, candidate.limit, computed - step_, candidate.admission, 0,
      candidate.table, stopped};
  const std::int64_t residue = slot.base % config_.block_size;
  slot.residue = static_cast<std::int32_t>(residue < 0 ? residue + config_.block_size : residue);
  ++crossing_[static_cast<std::size_t>(slot.residue)];
  ++decoders_;
  context_ += computed + 1;
  if (stopped) ++stopped_;
  if (slot.table != memory::RunPool::none && pool_.tail(slot.table) != 0) writers_.add(pool_.tail(slot.table), index);
  // Emits one token a step from step_ on: the last one after output - generated steps.
  const std::int32_t steps = stopped ? 1 : candidate.output - candidate.generated;
  calendar_.insert(index, step_ + steps - 1);
}

// Takes a decoder out of the sums. Requires: already out of the calendar.
void ConstantTime::vacate(std::int32_t index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.table != memory::RunPool::none && pool_.tail(slot.table) != 0) {
    catch_up_chain(pool_.tail(slot.table), step_);
    writers_.remove(pool_.tail(slot.table), index);
  }
  --crossing_[static_cast<std::size_t>(slot.residue)];
  --decoders_;
  context_ -= slot.base + step_ + 1;
  slot.admission = -1;
  spare_slots_.push_back(index);
}

}  // namespace servecast::engine
