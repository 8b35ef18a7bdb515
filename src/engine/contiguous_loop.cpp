#include "engine/contiguous_loop.hpp"

#include "core/error.hpp"
#include "engine/sequence.hpp"
#include "memory/buddy_allocator.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <vector>

namespace servecast::engine {

std::int64_t reserved_slots(KvAllocation allocation, std::int32_t prompt, std::int32_t output,
                            std::int32_t max_model_len) {
  switch (allocation) {
    case KvAllocation::ContiguousMax: return max_model_len;
    case KvAllocation::ContiguousPow2: {
      const auto room = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint32_t>(output)));
      return std::min<std::int64_t>(prompt + room, max_model_len);
    }
    case KvAllocation::ContiguousOracle: return prompt + output;
    case KvAllocation::Paged: break;
  }
  SERVECAST_ENSURE(false, "a paged allocation reserves no region");
  return 0;
}

namespace {

using core::Time;

struct Sequence : SequenceState {
  memory::Region region;
  std::int64_t reserved = 0;  // slots asked for
  std::int64_t final_tokens() const { return std::int64_t{request.prompt_tokens} + output(); }
};

class ContiguousLoop final : public Replica {
 public:
  ContiguousLoop(const Config& config, const cost::StepCost& cost, Observer& observer)
      : config_(config),
        cost_(cost),
        observer_(observer),
        buddies_(config.blocks * config.block_size),
        window_(cost.needs_window()) {}

  void enqueue(const workload::Request& request, std::int32_t) override {
    auto sequence = std::make_unique<Sequence>();
    sequence->request = request;
    sequence->reserved = reserved_slots(config_.kv_allocation, request.prompt_tokens, request.hidden.output_tokens,
                                        config_.max_model_len);
    waiting_.push_back(std::move(sequence));
  }
  Run advance(Time now, Time horizon, const cost::LinkOffer& offer) override;
  Run cut(Time) override { return run_; }
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return !waiting_.empty() || !active_.empty(); }
  Load load(std::int32_t) const override {
    return {static_cast<std::int32_t>(waiting_.size()), static_cast<std::int32_t>(active_.size()), blocks_used(), 0,
            config_.blocks};
  }
  SlotUse slots(std::int32_t) const override;
  Totals totals() const override { return totals_; }

 private:
  using Owned = std::unique_ptr<Sequence>;

  std::int64_t blocks_used() const { return blocks_for(buddies_.total() - buddies_.free(), config_.block_size); }
  void schedule(Sequence& s);
  void admit_waiting();

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  memory::BuddyAllocator buddies_;
  std::int32_t window_;
  std::deque<Owned> waiting_;
  std::vector<Owned> active_;     // in order of admission
  bool head_lacks_room_ = false;  // no free region holds the next in line
  std::int32_t budget_ = 0;       // tokens left in this step
  cost::StepShape shape_;
  cost::StepTime step_;
  Run run_;
  bool in_progress_ = false;
  Totals totals_;
};

Run ContiguousLoop::advance(Time now, Time, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  shape_ = {};
  budget_ = config_.max_num_batched_tokens;
  for (const Owned& sequence : active_) schedule(*sequence);
  admit_waiting();
  if (shape_.decode_requests + shape_.prefill_requests == 0) return run_;
  step_ = offer.nominal() ? cost_.step(shape_) : cost_.step(shape_, offer);
  SERVECAST_ENSURE(step_.total.ps > 0, "a step of {} ps at {} ps", step_.total.ps, now.ps);
  run_ = {now, now + step_.total, 1};
  in_progress_ = true;
  return run_;
}

// As many of the sequence's tokens as the step still holds.
void ContiguousLoop::schedule(Sequence& s) {
  s.from = s.computed;
  s.scheduled = std::min(s.tokens() - s.computed, budget_);
  if (s.scheduled == 0) return;
  s.computed += s.scheduled;
  budget_ -= s.scheduled;
  charge(s, cost_, window_, shape_);
}

void ContiguousLoop::admit_waiting() {
  head_lacks_room_ = false;
  while (!waiting_.empty() && budget_ > 0 && static_cast<std::int32_t>(active_.size()) < config_.max_num_seqs) {
    Sequence& head = *waiting_.front();
    if (!config_.enable_chunked_prefill && head.tokens() > budget_) return;
    const auto region = buddies_.allocate(head.reserved);
    if (!region) {
      head_lacks_room_ = true;
      return;
    }
    head.region = *region;
    schedule(head);
    active_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

SlotUse ContiguousLoop::slots(std::int32_t) const {
  SlotUse use;
  for (const Owned& s : active_) {
    use.tokens += s->computed;
    use.reserved += s->final_tokens() - s->computed;
    use.internal += s->reserved - s->final_tokens();
    use.external += s->region.slots - s->reserved;
  }
  if (head_lacks_room_) use.external += buddies_.free();
  return use;
}

void ContiguousLoop::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  const auto running = static_cast<std::int32_t>(active_.size());
  add_step(totals_, step_, {shape_.decode_requests, 0, shape_.prefill_tokens, blocks_used(), 0, running, slots(0)});
  for (Owned& s : active_) {
    if (s->scheduled == 0 || s->computed < s->tokens()) continue;
    s->phase = Phase::Decode;
    emit(*s, observer_, run_.end);
    if (s->generated < s->output()) continue;
    buddies_.release(s->region);
    s.reset();
  }
  std::erase(active_, nullptr);
}

}  // namespace

std::unique_ptr<Replica> make_contiguous_loop(const Config& config, const cost::StepCost& cost, Observer& observer) {
  SERVECAST_ENSURE(config.kv_allocation != KvAllocation::Paged && config.steps == StepKind::Mixed &&
                       !config.enable_prefix_caching && !config.async_scheduling,
                   "a configuration for a paged engine");
  SERVECAST_ENSURE(memory::BuddyAllocator(config.blocks * config.block_size).fits(config.max_model_len),
                   "no region of {} slots in {} blocks of {}", config.max_model_len, config.blocks, config.block_size);
  return std::make_unique<ContiguousLoop>(config, cost, observer);
}

}  // namespace servecast::engine
