#include "engine/group_loop.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "engine/sequence.hpp"
#include "memory/block_tables.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

namespace servecast::engine {
namespace {

using core::Time;

struct Group {
  workload::Request request;
  std::int64_t order = 0;  // of arrival
  std::int32_t generated = 0;
  Time last_token;
  memory::BlockTables tables;
  std::optional<Ancestors> ancestors;
  std::int32_t tokens() const { return request.prompt_tokens + generated; }
};

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
        parents_(static_cast<std::size_t>(config.branching.sequences)) {
    SERVECAST_ENSURE(!config.enable_prefix_caching && !config.enable_chunked_prefill,
                     "the group loop caches no prefixes and splits no prompts");
  }

  void enqueue(const workload::Request& request, std::int32_t) override {
    Owned group = spare();
    group->request = request;
    group->order = arrivals_++;
    group->generated = 0;
    if (config_.branching.beam && sequences() > 1) group->ancestors.emplace(config_.branching, request.id);
    waiting_.push_back(std::move(group));
  }
  Run advance(Time now, Time horizon, const cost::LinkOffer& offer) override;
  Run cut(Time) override { return run_; }
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return !waiting_.empty() || !running_.empty() || !swapped_.empty(); }
  Load load(std::int32_t) const override {
    return {static_cast<std::int32_t>(waiting_.size() + swapped_.size()), static_cast<std::int32_t>(running_.size()),
            gpu_.used(), 0, gpu_.total()};
  }
  SlotUse slots(std::int32_t) const override;
  Totals totals() const override { return totals_; }
  std::span<const Transfer> transfers() const override { return transfers_; }

 private:
  using Owned = std::unique_ptr<Group>;

  Owned spare() {
    if (spares_.empty()) return std::make_unique<Group>();
    Owned group = std::move(spares_.back());
    spares_.pop_back();
    return group;
  }
  std::int32_t sequences() const { return config_.branching.sequences; }
  std::int32_t seats() const { return static_cast<std::int32_t>(running_.size()) * sequences(); }
  bool schedule(Time now);
  void admit_prompts();
  bool admit_prompt(Group& group, std::int64_t& budget);
  bool decode_running(Time now);
  bool grow(Group& group);
  void preempt(Time now);
  void swap_in();
  void transfer(TransferKind kind, std::int64_t blocks);
  void price(const cost::LinkOffer& offer);
  void finish_prompt(Group& group);
  void finish_decodes();
  void retire_finished();
  [[noreturn]] void refuse(const Group& group, const char* what) const;

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  memory::BlockPool gpu_;
  memory::BlockPool host_;
  std::int32_t window_;
  std::int64_t watermark_;
  std::int64_t arrivals_ = 0;
  std::deque<Owned> waiting_;
  std::deque<Owned> swapped_;   // in order of arrival
  std::vector<Owned> running_;  // in order of admission; prompts of this step at the end
  std::size_t prompts_ = 0;     // groups of running_ that this step prefills; 0: it decodes
  std::size_t decoding_ = 0;    // groups of running_ that this step decodes, from the first
  std::vector<Owned> spares_;
  std::vector<std::int32_t> parents_;  // scratch
  std::vector<Transfer> transfers_;
  std::int64_t copies_ = 0;
  cost::StepShape shape_;
  cost::StepTime step_;
  Run run_;
  bool in_progress_ = false;
  Totals totals_;
};

Run GroupLoop::advance(Time now, Time, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  transfers_.clear();
  copies_ = 0;
  while (!schedule(now)) {
    if (running_.empty() && waiting_.empty() && swapped_.empty()) return run_;
  }
  price(offer);
  SERVECAST_ENSURE(step_.total.ps > 0, "a step of {} ps at {} ps", step_.total.ps, now.ps);
  run_ = {now, now + step_.total, 1};
  in_progress_ = true;
  return run_;
}

// One pass: prompts, unless groups are swapped out; else decodes, then groups from the host. False: everything that
// ran was preempted, so that another pass finds more.
bool GroupLoop::schedule(Time now) {
  shape_ = {};
  prompts_ = decoding_ = 0;
  if (swapped_.empty()) admit_prompts();
  if (prompts_ > 0) return true;
  const bool preempted = decode_running(now);
  if (!preempted) swap_in();
  return decoding_ > 0;
}

void GroupLoop::admit_prompts() {
  std::int64_t budget = config_.max_num_batched_tokens;
  while (!waiting_.empty() && admit_prompt(*waiting_.front(), budget)) {
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    ++prompts_;
  }
}

bool GroupLoop::admit_prompt(Group& group, std::int64_t& budget) {
  const std::int64_t blocks = blocks_for(group.tokens(), config_.block_size);
  if (gpu_.total() - blocks < watermark_) refuse(group, "its prompt");
  if (gpu_.free() - blocks < watermark_ || group.tokens() > budget || seats() + sequences() > config_.max_num_seqs)
    return false;
  group.tables.begin(gpu_, blocks);
  budget -= group.tokens();
  shape_.prefill_tokens += group.tokens();
  ++shape_.prefill_requests;
  ++shape_.sampled_rows;
  shape_.prefill_attention += cost_.chunk(0, group.tokens());
  return true;
}

// Returns whether a group was preempted.
bool GroupLoop::decode_running(Time now) {
  bool preempted = false;
  while (decoding_ < running_.size()) {
    if (!grow(*running_[decoding_])) {
      if (running_.size() == 1 && gpu_.used() == running_[0]->tables.distinct(gpu_)) refuse(*running_[0], "it");
      preempt(now);
      preempted = true;
      continue;
    }
    ++decoding_;
  }
  return preempted;
}

// Room for the token made last, whose keys and values this step computes.
bool GroupLoop::grow(Group& group) {
  if (gpu_.free() < sequences()) return false;
  const std::int32_t context = group.tokens();
  copies_ += group.tables.append(gpu_, context - 1, config_.block_size);
  shape_.decode_requests += sequences();
  shape_.sampled_rows += sequences();
  shape_.decode_context += std::int64_t{context} * sequences();
  if (window_ > 0) shape_.decode_context_windowed += std::int64_t{std::min(context, window_)} * sequences();
  return true;
}

// The newest group gives its blocks up.
void GroupLoop::preempt(Time now) {
  Owned victim = std::move(running_.back());
  running_.pop_back();
  observer_.preempted(victim->request.id, now);
  ++totals_.preemptions;
  const bool swaps = config_.preemption == PreemptionMode::Swap ||
                     (config_.preemption == PreemptionMode::Automatic && sequences() > 1);
  if (!swaps) {
    victim->tables.release(gpu_);
    waiting_.push_front(std::move(victim));
    return;
  }
  const std::int64_t blocks = victim->tables.distinct(gpu_);
  if (config_.swap_blocks - host_.used() < blocks)
    throw core::InputError("engine/swap_space_gib",
                           fmt::format("{} blocks of swap space hold {}, and request {} needs {} more; raise it",
                                       config_.swap_blocks, host_.used(), victim->request.id.value, blocks));
  transfer(TransferKind::SwapOut, victim->tables.move(gpu_, host_));
  const auto later = [](const Owned& a, const Owned& b) { return a->order < b->order; };
  swapped_.insert(std::upper_bound(swapped_.begin(), swapped_.end(), victim, later), std::move(victim));
}

// Groups on the host come back while their blocks, and one more for each sequence, fit above the watermark.
void GroupLoop::swap_in() {
  while (!swapped_.empty()) {
    Group& group = *swapped_.front();
    const std::int64_t need = group.tables.distinct(host_) + sequences();
    if (gpu_.total() < need) refuse(group, "it");
    const std::int64_t reserve = running_.empty() ? std::min(watermark_, gpu_.total() - need) : watermark_;
    if (gpu_.free() - need < reserve || seats() + sequences() > config_.max_num_seqs) return;
    transfer(TransferKind::SwapIn, group.tables.move(host_, gpu_));
    SERVECAST_ENSURE(grow(group), "request {} came back without room", group.request.id.value);
    running_.push_back(std::move(swapped_.front()));
    swapped_.pop_front();
    ++decoding_;
  }
}

void GroupLoop::transfer(TransferKind kind, std::int64_t blocks) {
  (kind == TransferKind::SwapOut ? totals_.swapped_out_blocks : totals_.swapped_in_blocks) += blocks;
  transfers_.push_back({kind, blocks, static_cast<std::int64_t>(static_cast<double>(blocks) * config_.block_bytes)});
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

void GroupLoop::refuse(const Group& group, const char* what) const {
  throw core::InputError(
      "engine/max_model_len",
      fmt::format("request {} of {} tokens in {}: {} does not fit in {} blocks with a watermark of {}; lower "
                  "max_model_len or the number of sequences, or raise gpu_memory_utilization",
                  group.request.id.value, group.tokens(), core::counted(sequences(), "sequence"), what, gpu_.total(),
                  watermark_));
}

// Empty slots are those of last blocks, each counted once however many sequences share it.
SlotUse GroupLoop::slots(std::int32_t) const {
  SlotUse use;
  for (const Owned& group : running_) {
    const auto room = static_cast<std::int64_t>(group->tables.table(0).size()) * config_.block_size;
    use.internal += std::max<std::int64_t>(0, room - group->tokens()) * group->tables.distinct_last();
  }
  use.tokens = gpu_.used() * config_.block_size - use.internal;
  return use;
}

void GroupLoop::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  totals_.copied_blocks += copies_;
  add_step(totals_, step_,
           {static_cast<std::int32_t>(decoding_) * sequences(), 0, shape_.prefill_tokens, gpu_.used(),
            gpu_.references() - gpu_.used(), static_cast<std::int32_t>(running_.size()), slots(0)});
  if (decoding_ > 0) {
    finish_decodes();
  } else {
    for (std::size_t i = running_.size() - prompts_; i < running_.size(); ++i) finish_prompt(*running_[i]);
  }
  retire_finished();
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
    group->tables.release(gpu_);
    spares_.push_back(std::move(group));
  }
  running_.resize(kept);
}

void GroupLoop::finish_prompt(Group& group) {
  if (++group.generated == 1)
    observer_.first_token(group.request.id, run_.end);
  else
    observer_.token_gap(run_.end - group.last_token, 1);
  group.last_token = run_.end;
  if (sequences() > 1) group.tables.fork(gpu_, sequences());
}

// One token for every sequence that decoded. Neighbours mostly saw the same gap, which is reported once.
void GroupLoop::finish_decodes() {
  core::Duration gap;
  std::int64_t weight = 0;
  for (std::size_t i = 0; i < decoding_; ++i) {
    Group& group = *running_[i];
    const core::Duration own = run_.end - group.last_token;
    if (weight > 0 && own != gap) {
      observer_.token_gap(gap, weight);
      weight = 0;
    }
    gap = own;
    weight += sequences();
    group.last_token = run_.end;
    ++group.generated;
    if (group.ancestors && group.ancestors->draw(parents_)) group.tables.reparent(gpu_, parents_);
  }
  if (weight > 0) observer_.token_gap(gap, weight);
}

}  // namespace

std::unique_ptr<Replica> make_group_loop(const Config& config, const cost::StepCost& cost, Observer& observer) {
  return std::make_unique<GroupLoop>(config, cost, observer);
}

}  // namespace servecast::engine
