#include "engine/constant_time.hpp"

#include "core/error.hpp"
#include "engine/finish_calendar.hpp"
#include "engine/plain_loop.hpp"
#include "engine/waiting_queue.hpp"
#include "memory/private_runs.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace servecast::engine {
namespace {

using core::Duration;
using core::Time;

constexpr std::int32_t longest_run = 64;  // steps taken at once; a power of two no larger than the calendar's window

class ConstantTime final : public Replica {
 public:
  ConstantTime(const Config& config, const cost::StepCost& cost, Observer& observer)
      : config_(config), cost_(cost), observer_(observer), calendar_(config.max_num_seqs), runs_(config.blocks),
        slots_(static_cast<std::size_t>(config.max_num_seqs)),
        crossing_(static_cast<std::size_t>(config.block_size), 0), free_(config.blocks),
        watermark_(static_cast<std::int64_t>(config.watermark * static_cast<double>(config.blocks))) {
    for (std::int32_t i = config.max_num_seqs; i-- > 0;) spare_slots_.push_back(i);
  }

  void enqueue(const workload::Request& request, std::int32_t) override {
    SERVECAST_ENSURE(!config_.enable_prefix_caching || !request.content.shared(),
                     "request {} shares content in an engine that keeps none", request.id.value);
    waiting_.push_back(request.id, request.prompt_tokens, request.hidden.output_tokens);
  }

  Run advance(Time now, Time horizon, const cost::LinkOffer& offer) override;
  Run cut(Time t) override;
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return decoders_ > 0 || partial_active_ || !waiting_.empty(); }
  Load load(std::int32_t) const override {
    const auto joining = static_cast<std::int32_t>(joins_.size()) + (partial_active_ ? 1 : 0);
    return {static_cast<std::int32_t>(waiting_.size()), decoders_ + joining, config_.blocks - free_, 0,
            config_.blocks};
  }
  const Totals& totals() const override { return totals_; }

 private:
  // A decoding request. Its computed tokens before step s are base + s.
  struct Slot {
    workload::RequestId id;
    std::int32_t prompt = 0;
    std::int32_t output = 0;
    std::int64_t base = 0;
    std::int64_t admission = -1;  // -1: not in use
    std::int32_t residue = 0;     // base mod block_size
    bool stopped = false;         // spends one more slot after its last token (asynchronous scheduling, eos)
  };

  std::int64_t blocks_for(std::int64_t tokens) const { return (tokens + config_.block_size - 1) / config_.block_size; }
  // Decoders that need a new block in step `step`: those with (base + step) mod block_size == 0.
  std::int64_t crossing(std::int64_t step) const {
    const std::int64_t residue = step % config_.block_size;
    return crossing_[static_cast<std::size_t>(residue == 0 ? 0 : config_.block_size - residue)];
  }
  void take(std::int64_t blocks) {
    free_ -= blocks;
    if (config_.enable_prefix_caching) runs_.pop(blocks);
  }
  void give(std::int64_t blocks) {
    free_ += blocks;
    if (config_.enable_prefix_caching) runs_.add_anonymous(blocks);
  }
  bool wastes_slot(std::int32_t tokens) const {
    return config_.async_scheduling && config_.stop == Stop::Eos && tokens < config_.max_model_len;
  }

  cost::StepTime step_time(const cost::StepShape& shape) const {
    return offer_.nominal() ? cost_.step(shape) : cost_.step(shape, offer_);
  }

  bool schedule(Time now);
  std::int32_t schedule_running(Time now, bool& preempted);
  void add_chunk(const Candidate& candidate, std::int32_t from, std::int32_t to);
  bool admit_head(std::int32_t& budget);
  void preempt_last(Time now);
  void requeue(Candidate candidate, std::int64_t computed, Time now);
  std::int32_t extend(Time horizon);
  void account(std::int32_t step, std::int32_t seated);
  void join(const Candidate& candidate, Time at);
  void seat(const Candidate& candidate, bool stopped);
  void vacate(std::int32_t slot);
  void finish_slot(std::int32_t slot, Time at);
  void retire(std::int64_t blocks);
  bool release_limbo();

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  WaitingQueue waiting_;
  FinishCalendar calendar_;
  memory::PrivateRuns runs_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> spare_slots_;
  std::vector<std::int64_t> crossing_;  // decoders by residue of base
  std::int64_t free_;
  std::int64_t watermark_;
  std::int64_t step_ = 0;      // step counter
  std::int32_t decoders_ = 0;
  std::int32_t stopped_ = 0;   // decoders that have stopped
  std::int64_t context_ = 0;   // sum over decoders of computed + 1
  std::int64_t admissions_ = 0;
  Candidate partial_;          // the one unfinished prefill, always last in the running order
  std::int32_t partial_computed_ = 0;
  bool partial_active_ = false;
  std::vector<Candidate> joins_;     // prefills completed by this step, in order
  std::int64_t limbo_blocks_ = 0, new_limbo_blocks_ = 0;  // finished, given back one step later
  std::int32_t limbo_seats_ = 0, new_limbo_seats_ = 0;
  bool head_blocked_ = false;  // the queue's head waits for seats or blocks
  bool preempted_ = false;
  bool in_progress_ = false;
  cost::LinkOffer offer_;
  cost::StepShape shape_;
  Run run_;
  std::array<cost::StepTime, longest_run> times_;
  std::array<Time, longest_run> ends_;
  Totals totals_;
};

Run ConstantTime::advance(Time now, Time horizon, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  while (!schedule(now)) {
    if (!release_limbo()) return run_;
  }
  offer_ = offer;
  times_[0] = step_time(shape_);
  SERVECAST_ENSURE(times_[0].total.ps > 0, "a step of {} ps at {} ps", times_[0].total.ps, now.ps);
  ends_[0] = now + times_[0].total;
  run_.steps = 1;
  const bool arrivals_wait = !waiting_.empty();
  const bool steady = joins_.empty() && !partial_active_ && !preempted_ &&
                      (!arrivals_wait || (head_blocked_ && limbo_seats_ == 0));
  if (steady) run_.steps = extend(horizon);
  run_.end = ends_[static_cast<std::size_t>(run_.steps - 1)];
  in_progress_ = true;
  return run_;
}

// Appends identical decode steps to the run until one finishes something, blocks run short or the horizon is passed.
std::int32_t ConstantTime::extend(Time horizon) {
  const std::int32_t limit = std::min(calendar_.next_due(step_, longest_run - 1) + 1, longest_run);
  std::int64_t free = free_ + limbo_blocks_;
  cost::StepShape shape = shape_;
  std::int32_t steps = 1;
  for (; steps < limit && ends_[static_cast<std::size_t>(steps - 1)] < horizon; ++steps) {
    free -= crossing(step_ + steps);
    if (free < 0) break;
    shape.decode_context += decoders_;
    const auto i = static_cast<std::size_t>(steps);
    times_[i] = step_time(shape);
    ends_[i] = ends_[i - 1] + times_[i].total;
  }
  return steps;
}

Run ConstantTime::cut(Time t) {
  if (run_.steps > 1 && !head_blocked_) {
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
        const auto seated = decoders_ + limbo_seats_ + static_cast<std::int32_t>(joins_.size()) + (partial_active_ ? 1 : 0);
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
    chunk = partial_active_ ? std::min(partial_.tokens() - partial_computed_, config_.max_num_batched_tokens - decoders_) : 0;
    std::int64_t need = crossing(step_);
    if (chunk > 0) need += blocks_for(partial_computed_ + chunk) - blocks_for(partial_computed_);
    if (need <= free_) {
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
  std::int64_t hit = 0;
  if (head.run != memory::PrivateRuns::none && config_.enable_prefix_caching) {
    hit = std::min<std::int64_t>(runs_.hittable(head.run), (tokens - 1) / config_.block_size);
  }
  const auto from = static_cast<std::int32_t>(hit * config_.block_size);
  std::int32_t n = tokens - from;
  if (!config_.enable_chunked_prefill && n > budget) return false;
  n = std::min(n, budget);
  const bool alone = decoders_ == 0 && joins_.empty() && !partial_active_;
  const std::int64_t need = blocks_for(config_.reserve_full_isl ? tokens : from + n);
  if (need + (alone ? 0 : watermark_) > free_) {
    head_blocked_ = true;
    return false;
  }
  waiting_.pop_front();
  if (hit > 0) {
    runs_.hit(head.run, hit);
    free_ -= hit;
  }
  take(blocks_for(from + n) - hit);
  if (config_.enable_prefix_caching) observer_.prefix_lookup(head.id, tokens, from, head.was_preempted);
  head.admission = admissions_++;
  head.run = memory::PrivateRuns::none;
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
  SERVECAST_ENSURE(last >= 0, "{} free blocks are too few with nothing to preempt", free_);
  const Slot slot = slots_[static_cast<std::size_t>(last)];
  const std::int64_t computed = slot.base + step_;
  calendar_.remove(last);
  vacate(last);
  if (slot.stopped) {
    --stopped_;
    give(blocks_for(computed));
    return;
  }
  Candidate candidate;
  candidate.id = slot.id;
  candidate.prompt = slot.prompt;
  candidate.output = slot.output;
  candidate.generated = static_cast<std::int32_t>(computed + 1 - slot.prompt);
  candidate.last_token = now;
  requeue(candidate, computed, now);
}

// Gives back a preempted request's blocks and puts it at the head of the queue.
void ConstantTime::requeue(Candidate candidate, std::int64_t computed, Time now) {
  const std::int64_t held = blocks_for(computed);
  candidate.was_preempted = true;
  free_ += held;
  if (config_.enable_prefix_caching) candidate.run = runs_.add_owned(held, computed / config_.block_size);
  waiting_.push_front(candidate);
  observer_.preempted(candidate.id, now);
  ++totals_.preemptions;
}

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
  calendar_.take(step_ - 1, [this](std::int32_t slot) { finish_slot(slot, run_.end); });
  for (const Candidate& candidate : joins_) join(candidate, run_.end);
  joins_.clear();
  limbo_blocks_ = new_limbo_blocks_;
  limbo_seats_ = new_limbo_seats_;
  new_limbo_blocks_ = new_limbo_seats_ = 0;
  if (!has_work()) release_limbo();
}

void ConstantTime::account(std::int32_t step, std::int32_t seated) {
  const cost::StepTime& time = times_[static_cast<std::size_t>(step)];
  const std::int64_t used = config_.blocks - free_;
  const std::int32_t emitting = decoders_ - stopped_;
  ++totals_.steps;
  totals_.decode_tokens += emitting;
  totals_.wasted_slots += stopped_;
  totals_.busy += time.total;
  totals_.compute += time.compute;
  totals_.memory += time.memory;
  totals_.network += time.network;
  totals_.host += time.host;
  totals_.scale_up_bytes += time.scale_up_bytes;
  totals_.peak_blocks_used = std::max(totals_.peak_blocks_used, used);
  totals_.block_time += static_cast<double>(used) * static_cast<double>(time.total.ps);
  totals_.running_time += static_cast<double>(seated) * static_cast<double>(time.total.ps);
  if (emitting > 0) observer_.token_gap(time.total, emitting);
}

void ConstantTime::finish_slot(std::int32_t index, Time at) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.stopped) {
    --stopped_;
    const std::int64_t blocks = blocks_for(slot.base + step_);
    vacate(index);
    give(blocks);
    return;
  }
  observer_.finished(slot.id, at, slot.output);
  if (wastes_slot(slot.prompt + slot.output)) {
    slot.stopped = true;
    ++stopped_;
    calendar_.insert(index, step_);
    return;
  }
  const std::int64_t blocks = blocks_for(slot.base + step_);
  vacate(index);
  retire(blocks);
}

// A finished request's blocks and seat: at once, or one step later under asynchronous scheduling.
void ConstantTime::retire(std::int64_t blocks) {
  if (!config_.async_scheduling) {
    give(blocks);
    return;
  }
  new_limbo_blocks_ += blocks;
  ++new_limbo_seats_;
}

bool ConstantTime::release_limbo() {
  const bool any = limbo_seats_ > 0;
  if (any) give(limbo_blocks_);
  limbo_blocks_ = limbo_seats_ = 0;
  return any;
}

// The step that ended at `at` completed this prefill: it emits a token.
void ConstantTime::join(const Candidate& candidate, Time at) {
  Candidate joined = candidate;
  ++joined.generated;
  if (joined.generated == 1) observer_.first_token(joined.id, at);
  else observer_.token_gap(at - joined.last_token, 1);
  if (joined.generated < joined.output) {
    seat(joined, false);
    return;
  }
  observer_.finished(joined.id, at, joined.output);
  if (wastes_slot(joined.tokens())) seat(joined, true);
  else retire(blocks_for(joined.tokens() - 1));
}

void ConstantTime::seat(const Candidate& candidate, bool stopped) {
  const std::int32_t index = spare_slots_.back();
  spare_slots_.pop_back();
  const std::int64_t computed = candidate.tokens() - 1;
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  slot = {candidate.id, candidate.prompt, candidate.output, computed - step_, candidate.admission, 0, stopped};
  const std::int64_t residue = slot.base % config_.block_size;
  slot.residue = static_cast<std::int32_t>(residue < 0 ? residue + config_.block_size : residue);
  ++crossing_[static_cast<std::size_t>(slot.residue)];
  ++decoders_;
  context_ += computed + 1;
  if (stopped) ++stopped_;
  // Emits one token a step from step_ on: the last one after output - generated steps.
  const std::int32_t steps = stopped ? 1 : candidate.output - candidate.generated;
  calendar_.insert(index, step_ + steps - 1);
}

// Takes a decoder out of the sums. Requires: already out of the calendar.
void ConstantTime::vacate(std::int32_t index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  --crossing_[static_cast<std::size_t>(slot.residue)];
  --decoders_;
  context_ -= slot.base + step_ + 1;
  slot.admission = -1;
  spare_slots_.push_back(index);
}

}  // namespace

std::optional<std::string> needs_plain_loop(const Config& config, const cost::StepCost& cost, bool shared_content) {
  if (config.loop == Loop::Plain) return "engine/loop is plain";
  if (cost.needs_window() > 0) return "attention windows need each request's own context";
  if (config.long_prefill_token_threshold > 0) return "long_prefill_token_threshold allows several partial prefills";
  if (config.enable_prefix_caching && shared_content) return "requests share prefixes";
  if (config.max_num_seqs > config.max_num_batched_tokens) return "max_num_seqs exceeds the token budget";
  return std::nullopt;
}

std::unique_ptr<Replica> make_constant_time(const Config& config, const cost::StepCost& cost, Observer& observer) {
  SERVECAST_ENSURE(!needs_plain_loop(config, cost, false), "a configuration for the plain loop");
  return std::make_unique<ConstantTime>(config, cost, observer);
}

std::unique_ptr<Replica> make_replica(const Config& config, const cost::StepCost& cost, Observer& observer,
                                      bool shared_content) {
  if (needs_plain_loop(config, cost, shared_content)) return make_plain_loop(config, cost, observer);
  return make_constant_time(config, cost, observer);
}

}  // namespace servecast::engine
