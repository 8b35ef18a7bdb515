// The class behind group_loop.hpp, shared by the files that implement it: runs and their ends, who is part of a step,
// and memory under pressure.
#pragma once

#include "core/error.hpp"
#include "engine/config.hpp"
#include "engine/group_queue.hpp"
#include "engine/replica.hpp"
#include "memory/lru_pool.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace servecast::engine {

class GroupLoop final : public Replica {
 public:
  GroupLoop(const Config& config, const cost::StepCost& cost, Observer& observer)
      : config_(config),
        cost_(cost),
        observer_(observer),
        gpu_(config.blocks),
        host_(std::max<std::int64_t>(1, config.swap_blocks)),
        window_(cost.needs_window()),
        watermark_(static_cast<std::int64_t>(config.watermark * static_cast<double>(config.blocks))),
        waiting_(config.branching),
        parents_(static_cast<std::size_t>(config.branching.sequences)) {}

  void enqueue(const workload::Request& request, std::int32_t) override { waiting_.arrive(request); }
  Run advance(core::Time now, core::Time horizon, const cost::LinkOffer& offer) override;
  Run cut(core::Time) override { return run_; }
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return !waiting_.empty() || !running_.empty() || !swapped_.empty(); }
  Load load(std::int32_t) const override {
    return {static_cast<std::int32_t>(waiting_.size() + swapped_.size()), static_cast<std::int32_t>(running_.size()),
            gpu_.used(), gpu_.cached(), gpu_.total()};
  }
  SlotUse slots(std::int32_t) const override;
  Totals totals() const override { return totals_; }
  std::span<const Transfer> transfers() const override { return transfers_; }

 private:
  using Owned = GroupQueue::Owned;

  std::int32_t sequences() const { return config_.branching.sequences; }
  std::int32_t seats() const { return static_cast<std::int32_t>(running_.size()) * sequences(); }
  bool has_seats() const { return seats() + sequences() <= config_.max_num_seqs; }
  std::int32_t room() const;
  std::int32_t share(const Group& group) const;

  bool schedule(core::Time now);
  void admit_prompts();
  bool admit(Group& group);
  void prefill(Group& group, std::int32_t tokens);
  void decode(Group& group);
  bool serve_running(core::Time now);
  void order_running();

  std::int32_t cached_prefix(Group& group);
  void fill_last(Group& group, std::int32_t tokens);
  void note_computed(Group& group, std::int32_t from, std::int32_t to);
  void preempt(core::Time now);
  void swap_out(Owned group);
  void swap_in();
  void transfer(TransferKind kind, std::int64_t blocks);
  [[noreturn]] void refuse(const Group& group, const char* what) const;

  void price(const cost::LinkOffer& offer);
  void finish_prompt(Group& group);
  void finish_steps();
  void retire_finished();

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  memory::LruPool gpu_;
  memory::LruPool host_;
  std::int32_t window_;
  std::int64_t watermark_;
  GroupQueue waiting_;
  std::deque<Owned> swapped_;     // in order of arrival
  std::vector<Owned> running_;    // in the scheduler's order
  std::vector<Owned> preempted_;  // in this pass, to be recomputed
  std::int32_t budget_ = 0;       // tokens left in this step
  std::int32_t decoding_ = 0;     // groups that decode in this step
  std::int32_t prompts_ = 0;      // groups that prefill in this step
  std::uint64_t written_ = 0;  // full blocks that several sequences of a group have written: each a content of its own
  std::vector<std::int32_t> parents_;  // scratch
  std::vector<Transfer> transfers_;
  std::int64_t copies_ = 0;
  cost::StepShape shape_;
  cost::StepTime step_;
  Run run_;
  bool retry_ = false;  // this pass preempted, so that another one may find more
  bool in_progress_ = false;
  Totals totals_;
};

}  // namespace servecast::engine
