#include "engine/constant_time.hpp"

#include "engine/constant_time_replica.hpp"
#include "engine/contiguous_loop.hpp"
#include "engine/fan_out.hpp"
#include "engine/group_loop.hpp"
#include "engine/plain_loop.hpp"
#include "engine/sglang_loop.hpp"

#include <algorithm>

namespace servecast::engine {

using core::Time;

Run ConstantTime::advance(Time now, Time horizon, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  while (!schedule(now)) {
    if (!release_limbo()) return run_;
  }
  nominal_ = offer.nominal();
  offer_ = offer;
  times_[0] = step_time(shape_);
  SERVECAST_ENSURE(times_[0].total.ps > 0, "a step of {} ps at {} ps", times_[0].total.ps, now.ps);
  ends_[0] = now + times_[0].total;
  run_.steps = 1;
  const bool arrivals_wait = !waiting_.empty();
  const bool steady = joins_.empty() && !partial_active_ && !preempted_ &&
                      (!arrivals_wait || (head_blocked_ && limbo_seats_ == 0 && !head_may_change()));
  if (steady) run_.steps = extend(horizon);
  run_.end = ends_[static_cast<std::size_t>(run_.steps - 1)];
  in_progress_ = true;
  return run_;
}

// Appends identical decode steps to the run until one finishes something, blocks run short or the horizon is passed.
std::int32_t ConstantTime::extend(Time horizon) {
  const std::int32_t limit = std::min(calendar_.next_due(step_, longest_run - 1) + 1, longest_run);
  std::int64_t free = pool_.free() + limbo_private_;
  cost::StepShape shape = shape_;
  std::int32_t crossing = crossing_at_;
  std::int32_t steps = 1;
  for (; steps < limit && ends_[static_cast<std::size_t>(steps - 1)] < horizon; ++steps) {
    crossing = next_crossing(crossing);
    free -= crossing_[static_cast<std::size_t>(crossing)];
    if (free < 0) break;
    shape.decode_context += decoders_;
    const auto i = static_cast<std::size_t>(steps);
    times_[i] = step_time(shape);
    ends_[i] = ends_[i - 1] + times_[i].total;
  }
  return steps;
}

Run ConstantTime::stop(Time t) {
  if (run_.steps > 1) {
    const auto last = ends_.begin() + run_.steps - 1;
    run_.steps = static_cast<std::int32_t>(std::lower_bound(ends_.begin(), last, t) - ends_.begin()) + 1;
    run_.end = ends_[static_cast<std::size_t>(run_.steps - 1)];
  }
  return run_;
}

// One pass of the scheduler. False: nothing could be scheduled, and another pass would not change that.
bool ConstantTime::schedule(Time now) {
  for (;;) {
    bool preempted = false;
    std::int32_t budget = schedule_running(now, preempted);
    preempted_ = preempted;
    head_blocked_ = false;
    if (!preempted) {
      while (!waiting_.empty() && budget > 0) {
        const auto seated =
            decoders_ + limbo_seats_ + static_cast<std::int32_t>(joins_.size()) + (partial_active_ ? 1 : 0);
        if (seated >= config_.max_num_seqs) {
          head_blocked_ = true;
          break;
        }
        if (!admit_head(budget)) break;
      }
    }
    if (shape_.decode_requests + shape_.prefill_requests > 0) return true;
    if (!preempted) return false;
  }
}

// Decoders and the unfinished prefill, preempting from the end of the running order while blocks are short.
// Fills shape_ and joins_; returns the token budget left.
std::int32_t ConstantTime::schedule_running(Time now, bool& preempted) {
  joins_.clear();
  shape_ = {};
  std::int32_t chunk = 0;
  for (;;) {
    chunk = partial_active_
                ? std::min(partial_.tokens() - partial_computed_, config_.max_num_batched_tokens - decoders_)
                : 0;
    std::int64_t need = crossing_[static_cast<std::size_t>(crossing_at_)];
    if (chunk > 0) need += blocks_for(partial_computed_ + chunk) - blocks_for(partial_computed_);
    if (need <= pool_.free()) {
      take(need);
      break;
    }
    preempt_last(now);
    preempted = true;
  }
  shape_.decode_requests = shape_.sampled_rows = decoders_;
  shape_.decode_context = context_;
  if (chunk > 0) {
    const std::int32_t from = partial_computed_;
    partial_active_ = false;
    add_chunk(partial_, from, from + chunk);
  }
  return config_.max_num_batched_tokens - decoders_ - chunk;
}

void ConstantTime::add_chunk(const Candidate& candidate, std::int32_t from, std::int32_t to) {
  if (candidate.table != memory::RunPool::none) {
    catch_up(candidate.table, step_ + 1);
    pool_.publish(candidate.table, to / config_.block_size);
  }
  shape_.prefill_tokens += to - from;
  ++shape_.prefill_requests;
  shape_.prefill_attention += cost_.chunk(from, to);
  if (to == candidate.tokens()) {
    ++shape_.sampled_rows;
    joins_.push_back(candidate);
  } else {
    partial_ = candidate;
    partial_computed_ = to;
    partial_active_ = true;
  }
}

bool ConstantTime::admit_head(std::int32_t& budget) {
  Candidate head = waiting_.front();
  const std::int32_t tokens = head.tokens();
  const Hit hit = lookup(head);
  const auto from = static_cast<std::int32_t>(hit.blocks * config_.block_size);
  std::int32_t n = tokens - from;
  if (!config_.enable_chunked_prefill && n > budget) return false;
  n = std::min(n, budget);
  const bool alone = decoders_ == 0 && joins_.empty() && !partial_active_;
  const std::int64_t reserve = blocks_for(head.prompt + head.limit);
  std::int64_t need = blocks_for(config_.reserve_full_isl ? tokens : from + n);
  if (config_.capacity_policy == CapacityPolicy::GuaranteedNoEvict)
    need = reserve + reserved_ - (logical_ - limbo_blocks_);
  if (need - hit.referenced + (alone ? 0 : watermark_) > pool_.free()) {
    head_blocked_ = true;
    return false;
  }
  waiting_.pop_front();
  if (hit.blocks > hit.own) pool_.retain(head.table);
  if (hit.own > 0) pool_.hit(head.run, hit.own);
  logical_ += hit.blocks;
  take(blocks_for(from + n) - hit.blocks);
  reserved_ += reserve;
  if (config_.enable_prefix_caching) observer_.prefix_lookup(head.id, tokens, from, head.was_preempted);
  head.admission = admissions_++;
  head.run = {};
  budget -= n;
  add_chunk(head, from, from + n);
  return true;
}

void ConstantTime::preempt_last(Time now) {
  if (partial_active_) {
    partial_active_ = false;
    requeue(partial_, partial_computed_, now);
    return;
  }
  std::int32_t last = -1;
  std::int64_t newest = -1;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].admission > newest) {
      newest = slots_[i].admission;
      last = static_cast<std::int32_t>(i);
    }
  }
  SERVECAST_ENSURE(last >= 0, "{} free blocks are too few with nothing to preempt", pool_.free());
  const Slot slot = slots_[static_cast<std::size_t>(last)];
  const std::int64_t computed = slot.base + step_;
  calendar_.remove(last);
  vacate(last);
  if (slot.stopped) {
    --stopped_;
    give(leaving(table_in(last), computed));
    reserved_ -= blocks_for(slot.prompt + slot.limit);
    return;
  }
  Candidate candidate;
  candidate.id = slot.id;
  candidate.prompt = slot.prompt;
  candidate.output = slot.output;
  candidate.limit = slot.limit;
  candidate.table = table_in(last);
  candidate.generated = static_cast<std::int32_t>(computed + 1 - slot.prompt);
  candidate.last_token = now;
  requeue(candidate, computed, now);
}

// Gives back a preempted request's blocks and puts it at the head of the queue.
void ConstantTime::requeue(Candidate candidate, std::int64_t computed, Time now) {
  const std::int64_t held = blocks_for(computed);
  reserved_ -= blocks_for(candidate.prompt + candidate.limit);
  candidate.was_preempted = true;
  logical_ -= held;
  const bool shares = candidate.table != memory::RunPool::none;
  const std::int64_t shared = shares ? pool_.published(candidate.table) : 0;
  candidate.run = pool_.give_owned(held - shared, computed / config_.block_size - shared);
  if (shares) pool_.release(candidate.table);
  waiting_.push_front(candidate);
  observer_.preempted(candidate.id, now);
  ++totals_.preemptions;
}

std::optional<std::string> needs_plain_loop(const Config& config, const cost::StepCost& cost) {
  if (config.steps != StepKind::Mixed) return "prompts run in steps of their own";
  if (config.loop == Loop::Plain) return "engine/loop is plain";
  if (!config.kinds.empty()) return "groups of layers share the pool of blocks";
  if (config.offload_blocks > 0) return "cached prefixes move to the host";
  if (cost.needs_window() > 0) return "attention windows need each request's own context";
  if (config.long_prefill_token_threshold > 0) return "long_prefill_token_threshold allows several partial prefills";
  if (config.max_num_seqs > config.max_num_batched_tokens) return "max_num_seqs exceeds the token budget";
  return std::nullopt;
}

std::unique_ptr<Replica> make_constant_time(const Config& config, const cost::StepCost& cost, Observer& observer,
                                            bool shared_content) {
  SERVECAST_ENSURE(!needs_plain_loop(config, cost), "a configuration for the plain loop");
  return std::make_unique<ConstantTime>(config, cost, observer, shared_content);
}

std::unique_ptr<Replica> make_replica(const Config& config, const cost::StepCost& cost, Observer& observer,
                                      bool shared_content) {
  if (config.samples > 1) return make_fan_out(config, cost, observer);
  if (config.steps == StepKind::PrefillFirst) return make_sglang_loop(config, cost, observer);
  if (config.kv_allocation != KvAllocation::Paged) return make_contiguous_loop(config, cost, observer);
  if (config.steps == StepKind::Groups) return make_group_loop(config, cost, observer);
  if (needs_plain_loop(config, cost)) return make_plain_loop(config, cost, observer, shared_content);
  return make_constant_time(config, cost, observer, shared_content);
}

}  // namespace servecast::engine
