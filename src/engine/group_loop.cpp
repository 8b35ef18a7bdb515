#include "engine/group_loop.hpp"

#include "engine/group_replica.hpp"
#include "engine/sequence.hpp"

namespace servecast::engine {

using core::Time;

Run GroupLoop::advance(Time now, Time, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  transfers_.clear();
  copies_ = 0;
  while (!schedule(now)) {
    if (!retry_) return run_;
  }
  price(offer);
  SERVECAST_ENSURE(step_.total.ps > 0, "a step of {} ps at {} ps", step_.total.ps, now.ps);
  run_ = {now, now + step_.total, 1};
  in_progress_ = true;
  return run_;
}

// The step, after its transfers and its copies of blocks.
void GroupLoop::price(const cost::LinkOffer& offer) {
  step_ = offer.nominal() ? cost_.step(shape_) : cost_.step(shape_, offer);
  core::Duration moved{0};
  for (const Transfer& t : transfers_) moved += config_.host_link.time(t);
  const core::Duration copied{config_.block_copy.ps * copies_};
  step_.network += moved;
  step_.memory += copied;
  step_.total += moved + copied;
}

// Empty slots are those of last blocks, each counted once however many sequences share it; slots of a prompt that is
// still to be computed are reserved.
SlotUse GroupLoop::slots(std::int32_t) const {
  SlotUse use;
  for (const Owned& group : running_) {
    const std::int64_t room = group->tables.length() * config_.block_size;
    use.internal += std::max<std::int64_t>(0, room - group->tokens()) * group->tables.distinct_last();
    use.reserved += group->goal - group->computed - group->chunk;
  }
  const std::int64_t held = gpu_.used() * config_.block_size - use.internal;
  use.reserved = std::min(use.reserved, held);  // what two prompts share is reserved once
  use.tokens = held - use.reserved;
  return use;
}

void GroupLoop::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  totals_.copied_blocks += copies_;
  add_step(totals_, step_,
           {decoding_ * sequences(), 0, shape_.prefill_tokens, gpu_.used(), gpu_.references() - gpu_.used(), seats(),
            slots(0)});
  finish_steps();
  retire_finished();
}

// One token for every sequence that decoded; neighbours mostly saw the same gap, which is reported once. Prompts go on.
void GroupLoop::finish_steps() {
  core::Duration gap;
  std::int64_t weight = 0;
  for (const Owned& owned : running_) {
    Group& group = *owned;
    group.from = From::Running;
    if (!group.decodes) {
      if (group.chunk > 0) finish_prompt(group);
      continue;
    }
    group.decodes = false;
    const core::Duration own = run_.end - group.last_token;
    if (weight > 0 && own != gap) {
      observer_.token_gap(gap, weight);
      weight = 0;
    }
    gap = own;
    weight += sequences();
    group.last_token = run_.end;
    if (config_.enable_prefix_caching) note_computed(group, group.tokens() - 1, group.tokens());
    ++group.generated;
    if (group.ancestors && group.ancestors->draw(parents_)) group.tables.reparent(gpu_, parents_);
  }
  if (weight > 0) observer_.token_gap(gap, weight);
}

void GroupLoop::finish_prompt(Group& group) {
  if (config_.enable_prefix_caching) note_computed(group, group.computed, group.computed + group.chunk);
  group.computed += group.chunk;
  group.chunk = 0;
  if (group.prefilling()) return;
  if (++group.generated == 1)
    observer_.first_token(group.request.id, run_.end);
  else
    observer_.token_gap(run_.end - group.last_token, 1);
  group.last_token = run_.end;
  if (sequences() > 1) group.tables.fork(gpu_, sequences());
}

void GroupLoop::retire_finished() {
  std::size_t kept = 0;
  for (Owned& group : running_) {
    if (group->generated < group->request.hidden.output_tokens) {
      if (running_[kept] != group) running_[kept] = std::move(group);
      ++kept;
      continue;
    }
    observer_.finished(group->request.id, run_.end, group->generated);
    group->tables.release(gpu_, group->accessed);
    waiting_.retire(std::move(group));
  }
  running_.resize(kept);
}

std::unique_ptr<Replica> make_group_loop(const Config& config, const cost::StepCost& cost, Observer& observer) {
  SERVECAST_ENSURE(config.steps == StepKind::Groups, "a configuration of other steps");
  return std::make_unique<GroupLoop>(config, cost, observer);
}

}  // namespace servecast::engine
