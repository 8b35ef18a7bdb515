// The class behind constant_time.hpp, shared by the two files that implement it: scheduling, and applying a run.
#pragma once

#include "core/error.hpp"
#include "engine/constant_time.hpp"
#include "engine/finish_calendar.hpp"
#include "engine/sequence.hpp"
#include "engine/tail_writers.hpp"
#include "engine/waiting_queue.hpp"
#include "memory/run_pool.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace servecast::engine {

constexpr std::int32_t longest_run = 64;  // steps taken at once; a power of two no larger than the calendar's window

class ConstantTime final : public Replica {
 public:
  ConstantTime(const Config& config, const cost::StepCost& cost, Observer& observer, bool shared_content)
      : config_(config),
        cost_(cost),
        observer_(observer),
        calendar_(config.max_num_seqs),
        pool_(config.blocks),
        shared_(shared_content && config.enable_prefix_caching),
        slots_(static_cast<std::size_t>(config.max_num_seqs)),
        tables_(shared_ ? static_cast<std::size_t>(config.max_num_seqs) : 0, memory::RunPool::none),
        crossing_(static_cast<std::size_t>(config.block_size), 0),
        writers_(config.max_num_seqs),
        watermark_(static_cast<std::int64_t>(config.watermark * static_cast<double>(config.blocks))) {
    for (std::int32_t i = config.max_num_seqs; i-- > 0;) spare_slots_.push_back(i);
  }

  void enqueue(const workload::Request& request, std::int32_t) override {
    waiting_.push_back(request.id, request.prompt_tokens, request.hidden.output_tokens,
                       output_limit(request, config_.max_model_len),
                       request.content.shared() ? table_of(request) : memory::RunPool::none);
  }

  Run advance(core::Time now, core::Time horizon, const cost::LinkOffer& offer) override;
  Run cut(core::Time t) override { return head_blocked_ ? run_ : stop(t); }
  Run stop(core::Time t) override;
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return decoders_ > 0 || partial_active_ || !waiting_.empty(); }
  Load load(std::int32_t) const override {
    const auto joining = static_cast<std::int32_t>(joins_.size()) + (partial_active_ ? 1 : 0);
    return {static_cast<std::int32_t>(waiting_.size()), decoders_ + joining, used(), shared_ ? pool_.cached() : 0,
            config_.blocks};
  }
  SlotUse slots(std::int32_t) const override {
    return paged_use(used(), logical_, held_tokens() + limbo_tokens_ - (in_progress_ ? 0 : decoders_), config_.block_size);
  }
  Totals totals() const override;

 private:
  // A decoding request. Its computed tokens before step s are base + s.
  struct Slot {
    workload::RequestId id;
    std::int32_t prompt = 0;
    std::int32_t output = 0;
    std::int32_t limit = 0;  // longest output to expect
    std::int64_t base = 0;
    std::int64_t admission = -1;  // -1: not in use
    std::int32_t residue = 0;     // base mod block_size
    bool stopped = false;         // spends one more slot after its last token (asynchronous scheduling, eos)
  };

  // Of one request; 32 bits divide faster.
  std::int64_t blocks_for(std::int64_t tokens) const {
    const auto size = static_cast<std::uint32_t>(config_.block_size);
    return (static_cast<std::uint32_t>(tokens) + size - 1) / size;
  }
  // Where crossing_ counts the decoders that need a new block in the step after.
  std::int32_t next_crossing(std::int32_t at) const { return at == 0 ? config_.block_size - 1 : at - 1; }
  std::int64_t used() const { return config_.blocks - pool_.free(); }
  void take(std::int64_t blocks) {
    pool_.pop(blocks);
    logical_ += blocks;
  }
  // KV tokens of all requests that have not ended, in the first step of the run in progress.
  std::int64_t held_tokens() const {
    std::int64_t tokens = context_;
    for (const Candidate& candidate : joins_) tokens += candidate.tokens();
    return tokens + (partial_active_ ? partial_computed_ : 0);
  }
  bool wastes_slot(std::int32_t tokens) const {
    return config_.async_scheduling && config_.stop == Stop::Eos && tokens < config_.max_model_len;
  }

  cost::StepTime step_time(const cost::StepShape& shape) const {
    return nominal_ ? cost_.step(shape) : cost_.step(shape, offer_);
  }

  // What a request leaves behind when it ends: its blocks, of which the first `full` hold content.
  struct Leaving {
    memory::RunPool::Table table = memory::RunPool::none;
    std::int64_t blocks = 0;
    std::int64_t full = 0;
    std::int64_t tokens = 0;
    bool late = false;  // given back one step later
  };
  struct Hit {
    std::int64_t blocks = 0;      // leading blocks the pool holds
    std::int64_t referenced = 0;  // of these, those that somebody holds
    std::int64_t own = 0;         // of these, those of its own freed run
  };

  memory::RunPool::Table table_of(const workload::Request& request);
  Hit lookup(const Candidate& head) {
    if (head.table != memory::RunPool::none) return lookup_shared(head);
    if (head.run.run < 0 || !config_.enable_prefix_caching) return {};
    const std::int64_t own = std::min<std::int64_t>(pool_.hittable(head.run), (head.tokens() - 1) / config_.block_size);
    return {own, 0, own};
  }
  Hit lookup_shared(const Candidate& head);
  memory::RunPool::Table table_in(std::int32_t slot) const {
    return shared_ ? tables_[static_cast<std::size_t>(slot)] : memory::RunPool::none;
  }
  void begin_writing(std::int32_t slot, memory::RunPool::Table table);
  void end_writing(std::int32_t slot);
  void catch_up(memory::RunPool::Table table, std::int64_t steps);
  void catch_up_chain(std::uint64_t chain, std::int64_t steps);
  bool head_may_change() const;
  void give(const Leaving& leaving);
  Leaving leaving(memory::RunPool::Table table, std::int64_t computed) const {
    return {table, blocks_for(computed), shared_ ? computed / config_.block_size : 0, computed, false};
  }
  bool schedule(core::Time now);
  std::int32_t schedule_running(core::Time now, bool& preempted);
  void add_chunk(const Candidate& candidate, std::int32_t from, std::int32_t to);
  bool admit_head(std::int32_t& budget);
  void preempt_last(core::Time now);
  void requeue(Candidate candidate, std::int64_t computed, core::Time now);
  std::int32_t extend(core::Time horizon);
  void account();
  void account_step(const cost::StepTime& time, std::int64_t tokens, std::int32_t seated);
  void join(const Candidate& candidate, core::Time at);
  void seat(const Candidate& candidate, bool stopped);
  void vacate(std::int32_t slot);
  void finish_slot(std::int32_t slot, core::Time at);
  void finish_due(core::Time at);
  void retire(Leaving left, bool late);
  void settle();
  void settle_shared();
  bool release_limbo();

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  WaitingQueue waiting_;
  FinishCalendar calendar_;
  memory::RunPool pool_;
  bool shared_;  // requests may share content
  std::vector<Slot> slots_;
  std::vector<memory::RunPool::Table> tables_;  // of the slots, where content may be shared
  std::vector<std::int32_t> spare_slots_;
  std::vector<std::int64_t> crossing_;  // decoders by residue of base
  std::int32_t crossing_at_ = 0;        // of those that need a block in step_: -step_ mod block_size
  TailWriters writers_;
  std::int64_t logical_ = 0;  // blocks of all requests, each counting what it shares as its own
  std::int64_t watermark_;
  std::int64_t step_ = 0;  // step counter
  std::int32_t decoders_ = 0;
  std::int32_t stopped_ = 0;  // decoders that have stopped
  std::int64_t context_ = 0;  // sum over decoders of computed + 1
  std::int64_t admissions_ = 0;
  std::int64_t reserved_ = 0;  // blocks that everything running would take at its longest output
  Candidate partial_;          // the one unfinished prefill, always last in the running order
  std::int32_t partial_computed_ = 0;
  bool partial_active_ = false;
  std::vector<Candidate> joins_;  // prefills completed by this step, in order
  std::vector<Leaving> ended_;    // by the run being applied; where nothing is shared their number of blocks will do
  std::vector<Leaving> limbo_;    // ended, given back one step later; likewise
  std::int64_t limbo_blocks_ = 0, new_limbo_blocks_ = 0;
  std::int64_t limbo_private_ = 0;  // of these, those that nobody shares
  std::int64_t limbo_tokens_ = 0, new_limbo_tokens_ = 0;
  std::int32_t limbo_seats_ = 0, new_limbo_seats_ = 0;
  std::vector<std::int32_t> finishing_;  // scratch
  bool head_blocked_ = false;            // the queue's head waits for seats or blocks
  bool preempted_ = false;
  bool in_progress_ = false;
  cost::LinkOffer offer_;
  bool nominal_ = true;
  cost::StepShape shape_;
  Run run_;
  std::array<cost::StepTime, longest_run> times_;
  std::array<core::Time, longest_run> ends_;
  Totals totals_;            // but for the slots, which follow from the rest
  Integral token_time_ = 0;  // KV tokens, as each request counts its own
};

}  // namespace servecast::engine
