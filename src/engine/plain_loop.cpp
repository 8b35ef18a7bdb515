#include "engine/plain_loop.hpp"

#include "core/error.hpp"
#include "engine/grouped_kv.hpp"
#include "engine/paged_kv.hpp"

#include <algorithm>
#include <deque>
#include <vector>

namespace servecast::engine {
namespace {

using core::Time;

// Kv: the blocks of sequences, paged_kv.hpp or grouped_kv.hpp.
template <typename Kv>
class PlainLoop final : public Replica {
 public:
  PlainLoop(const Config& config, const cost::StepCost& cost, Observer& observer, Kv kv)
      : config_(config), cost_(cost), observer_(observer), kv_(std::move(kv)), window_(cost.needs_window()) {}

  void enqueue(const workload::Request& request, std::int32_t) override {
    auto sequence = spare();
    sequence->request = request;
    sequence->reserved = kv_.longest(*sequence);
    waiting_.push_back(std::move(sequence));
  }

  Run advance(Time now, Time horizon, const cost::LinkOffer& offer) override;
  Run cut(Time) override { return run_; }
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return !waiting_.empty() || !active_.empty() || !loading_.empty(); }
  Load load(std::int32_t) const override {
    const std::size_t waiting = waiting_.size() + loading_.size();
    return {static_cast<std::int32_t>(waiting),
            static_cast<std::int32_t>(active_.size()),
            kv_.used(),
            kv_.cached(),
            kv_.total(),
            kv_.on_host(),
            kv_.on_storage()};
  }
  SlotUse slots(std::int32_t) const override { return kv_.slots(computed_); }
  Totals totals() const override { return totals_; }
  std::span<const Transfer> transfers() const override { return kv_.transfers(); }

 private:
  struct Sequence : SequenceState {
    typename Kv::Table table;
    bool limbo = false;         // finished, its blocks and seat not yet given back
    bool over = false;          // has spent the slot after its end
    std::int64_t reserved = 0;  // blocks its longest output would take
    Time there;                 // when the blocks it loads ahead have come
  };
  using Owned = std::unique_ptr<Sequence>;

  Owned spare() {
    if (spares_.empty()) return std::make_unique<Sequence>();
    Owned sequence = std::move(spares_.back());
    spares_.pop_back();
    auto table = std::move(sequence->table);
    *sequence = Sequence{};
    sequence->table = std::move(table);
    return sequence;
  }

  bool schedule(Time now);
  bool schedule_running(Time now);
  void compute(Sequence& sequence, std::int32_t n);
  void admit_waiting(Time now);
  bool admit_loaded(Time now);
  bool admit(Sequence& sequence, const PrefixHits& hits);
  bool load_ahead(Sequence& sequence, const PrefixHits& hits, Time now);
  bool has_seat() const { return static_cast<std::int32_t>(active_.size() + limbo_.size()) < config_.max_num_seqs; }
  std::int32_t next_tokens(const Sequence& sequence, std::int32_t from) const;
  Time wake(Time now) const;
  void preempt_last(Time now);
  void release(Owned sequence);
  bool apply(Sequence& sequence, std::int64_t& steady);
  void part_with_ended();
  bool release_limbo();
  std::int64_t promised() const;
  bool wastes_slot(const Sequence& s) const {
    return config_.async_scheduling && config_.stop == Stop::Eos && s.tokens() < config_.max_model_len;
  }

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  Kv kv_;
  std::int32_t window_;
  std::deque<Owned> waiting_;
  std::vector<Owned> active_;   // in order of admission; holds the running, then frees them
  std::vector<Owned> loading_;  // set aside: their blocks are on the way, or there while the scheduler has no room
  std::vector<Owned> limbo_;
  std::vector<Owned> spares_;
  std::vector<Owned> kept_, done_;  // scratch
  Run run_;
  cost::StepTime step_;
  std::int32_t scheduled_decoders_ = 0;
  std::int32_t scheduled_prefill_tokens_ = 0;
  std::int32_t budget_ = 0;
  std::int64_t computed_ = 0;  // tokens of all that hold blocks
  bool in_progress_ = false;
  Totals totals_;
};

template <typename Kv>
Run PlainLoop<Kv>::advance(Time now, Time, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  kv_.begin_step();
  while (!schedule(now)) {
    if (release_limbo()) continue;
    run_.end = wake(now);
    return run_;
  }
  cost::StepShape shape;
  for (const Owned& sequence : active_) {
    const Sequence& s = *sequence;
    if (s.scheduled == 0) continue;
    if (s.phase == Phase::Decode)
      charge_decode(s, window_, shape);
    else
      charge(s, cost_, window_, shape);
  }
  step_ = offer.nominal() ? cost_.step(shape) : cost_.step(shape, offer);
  kv_.play(now, step_, totals_);
  SERVECAST_ENSURE(step_.total.ps > 0, "a step of {} ps at {} ps", step_.total.ps, now.ps);
  scheduled_decoders_ = shape.decode_requests;
  scheduled_prefill_tokens_ = shape.prefill_tokens;
  run_ = {now, now + step_.total, 1};
  in_progress_ = true;
  return run_;
}

// One pass of the scheduler. False: nothing could be scheduled, and another pass would not change that.
template <typename Kv>
bool PlainLoop<Kv>::schedule(Time now) {
  for (;;) {
    budget_ = config_.max_num_batched_tokens;
    for (Owned& sequence : active_) sequence->scheduled = 0;
    kv_.begin_pass();
    const bool preempted = schedule_running(now);
    if (!preempted) admit_waiting(now);
    for (const Owned& sequence : active_) {
      if (sequence->scheduled > 0) return true;
    }
    if (!preempted) return false;
  }
}

// Running list, in order of admission. Returns whether anything was preempted.
template <typename Kv>
bool PlainLoop<Kv>::schedule_running(Time now) {
  bool preempted = false;
  for (std::size_t i = 0; i < active_.size() && budget_ > 0; ++i) {
    Sequence& s = *active_[i];
    std::int32_t n = s.stopped ? 1 : next_tokens(s, s.computed);
    n = kv_.split(s, s.computed, std::min(n, budget_));
    if (n == 0) continue;
    bool self = false;
    while (!self && !kv_.grow(s, s.table, s.computed + n)) {
      self = i + 1 == active_.size();
      preempt_last(now);
      preempted = true;
    }
    if (self) break;
    compute(s, n);
  }
  return preempted;
}

// The step computes the sequence's next n tokens, which have blocks.
template <typename Kv>
void PlainLoop<Kv>::compute(Sequence& s, std::int32_t n) {
  s.from = s.computed;
  s.scheduled = n;
  s.computed += n;
  computed_ += n;
  budget_ -= n;
  kv_.publish(s, s.table);
}

template <typename Kv>
void PlainLoop<Kv>::admit_waiting(Time now) {
  if (!admit_loaded(now)) return;
  while (!waiting_.empty() && budget_ > 0 && has_seat()) {
    Sequence& head = *waiting_.front();
    const PrefixHits hits = kv_.find(head, head.table);
    const bool ahead = config_.offload_prefetch == OffloadPrefetch::Ahead && hits.host_blocks > 0;
    if (ahead ? !load_ahead(head, hits, now) : !admit(head, hits)) return;
    (ahead ? loading_ : active_).push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// Tokens of a prompt that a step computes from `from` on, whatever its budget.
template <typename Kv>
std::int32_t PlainLoop<Kv>::next_tokens(const Sequence& s, std::int32_t from) const {
  const std::int32_t n = s.tokens() - from;
  const std::int32_t threshold = config_.long_prefill_token_threshold;
  return threshold > 0 ? std::min(n, threshold) : n;
}

// Tries to start a waiting request: admission gate, blocks of its first chunk.
template <typename Kv>
bool PlainLoop<Kv>::admit(Sequence& s, const PrefixHits& hits) {
  std::int32_t n = next_tokens(s, hits.tokens);
  if (!config_.enable_chunked_prefill && n > budget_) return false;
  n = kv_.split(s, hits.tokens, std::min(n, budget_));
  if (n == 0 || !kv_.admits(s, s.table, hits, hits.tokens + n, promised(), active_.empty())) return false;
  s.computed = hits.tokens + n;
  computed_ += s.computed;
  s.from = hits.tokens;
  s.scheduled = n;
  s.phase = Phase::Prefill;
  kv_.start(s, s.table, hits);
  budget_ -= n;
  if (config_.enable_prefix_caching) {
    kv_.publish(s, s.table);
    observer_.prefix_lookup(s.request.id, s.tokens(), hits.tokens, s.was_preempted);
  }
  return true;
}

// Tries to take blocks for what a waiting request has cached below the GPU, and lets it come. Nobody else gets the
// blocks that the rest of it will take.
template <typename Kv>
bool PlainLoop<Kv>::load_ahead(Sequence& s, const PrefixHits& hits, Time now) {
  if (!kv_.admits(s, s.table, hits, s.tokens(), promised(), active_.empty())) return false;
  s.computed = hits.tokens;
  computed_ += s.computed;
  s.scheduled = 0;
  s.phase = Phase::Prefill;
  kv_.start(s, s.table, hits);
  s.there = kv_.fetch(now);
  observer_.prefix_lookup(s.request.id, s.tokens(), hits.tokens, s.was_preempted);
  return true;
}

// Requests set aside come before the queue; those whose blocks are there start. False: one of them finds no room.
template <typename Kv>
bool PlainLoop<Kv>::admit_loaded(Time now) {
  for (std::size_t i = 0; i < loading_.size() && budget_ > 0 && has_seat();) {
    Sequence& s = *loading_[i];
    if (s.there > now) {
      ++i;
      continue;
    }
    kv_.publish(s, s.table);
    std::int32_t n = next_tokens(s, s.computed);
    if (!config_.enable_chunked_prefill && n > budget_) return false;
    n = std::min(n, budget_);
    if (!kv_.grow(s, s.table, s.computed + n)) return false;
    compute(s, n);
    active_.push_back(std::move(loading_[i]));
    loading_.erase(loading_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

// When the next blocks on their way are there; now: none are.
template <typename Kv>
Time PlainLoop<Kv>::wake(Time now) const {
  Time next = Time::never();
  for (const Owned& s : loading_)
    if (s->there > now) next = std::min(next, s->there);
  return next == Time::never() ? now : next;
}

// Blocks that the rest of requests set aside will take, and, where nothing may be preempted, what runs.
template <typename Kv>
std::int64_t PlainLoop<Kv>::promised() const {
  std::int64_t blocks = 0;
  for (const Owned& s : loading_) blocks += blocks_for(s->tokens(), config_.block_size) - kv_.held(s->table);
  if (config_.capacity_policy != CapacityPolicy::GuaranteedNoEvict) return blocks;
  for (const Owned& s : active_) blocks += s->reserved - kv_.held(s->table);
  return blocks;
}

template <typename Kv>
void PlainLoop<Kv>::preempt_last(Time now) {
  Owned victim = std::move(active_.back());
  active_.pop_back();
  if (victim->stopped) {
    release(std::move(victim));
    return;
  }
  computed_ -= victim->computed;
  observer_.preempted(victim->request.id, now);
  ++totals_.preemptions;
  kv_.release(victim->table);
  victim->computed = victim->settled = victim->scheduled = 0;
  victim->phase = Phase::Prefill;
  victim->was_preempted = true;
  waiting_.push_front(std::move(victim));
}

template <typename Kv>
void PlainLoop<Kv>::release(Owned sequence) {
  computed_ -= sequence->computed;
  kv_.retire(sequence->table);
  kv_.release(sequence->table);
  spares_.push_back(std::move(sequence));
}

template <typename Kv>
bool PlainLoop<Kv>::release_limbo() {
  const bool any = !limbo_.empty();
  for (Owned& sequence : limbo_) release(std::move(sequence));
  limbo_.clear();
  return any;
}

template <typename Kv>
void PlainLoop<Kv>::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  add_step(totals_, step_,
           {scheduled_decoders_, 0, scheduled_prefill_tokens_, kv_.used(), kv_.references() - kv_.used(),
            static_cast<std::int32_t>(active_.size()), slots(0)});
  release_limbo();
  bool ends = false;
  std::int64_t steady = 0;  // tokens that follow one of the step before
  for (const Owned& sequence : active_) ends = apply(*sequence, steady) || ends;
  if (steady > 0) observer_.token_gap(run_.end - run_.begin, steady);
  if (ends) part_with_ended();
}

// The step's effect on one sequence; true where it ends.
template <typename Kv>
bool PlainLoop<Kv>::apply(Sequence& s, std::int64_t& steady) {
  s.settled = config_.async_scheduling && s.scheduled > 0 ? s.from : s.computed;
  if (s.scheduled == 0) return false;
  if (s.stopped) {
    ++totals_.wasted_slots;
    --totals_.decode_tokens;
    s.over = true;
    return true;
  }
  if (s.computed != s.tokens()) return false;
  s.phase = Phase::Decode;
  if (s.generated > 0 && s.last_token == run_.begin && s.generated + 1 < s.output()) {
    ++s.generated;
    s.last_token = run_.end;
    ++steady;
    return false;
  }
  emit(s, observer_, run_.end);
  if (s.generated < s.output()) return false;
  (wastes_slot(s) ? s.stopped : s.limbo) = true;
  return s.limbo;
}

template <typename Kv>
void PlainLoop<Kv>::part_with_ended() {
  kept_.clear();
  done_.clear();
  for (Owned& sequence : active_) {
    (sequence->limbo || sequence->over ? done_ : kept_).push_back(std::move(sequence));
  }
  std::swap(active_, kept_);
  for (Owned& sequence : done_) {
    if (config_.async_scheduling && sequence->limbo && has_work()) {
      kv_.retire(sequence->table);
      limbo_.push_back(std::move(sequence));
    } else {
      release(std::move(sequence));
    }
  }
}

}  // namespace

std::unique_ptr<Replica> make_plain_loop(const Config& config, const cost::StepCost& cost, Observer& observer,
                                         bool shared_content) {
  if (config.kinds.empty()) return std::make_unique<PlainLoop<PagedKv>>(config, cost, observer, PagedKv(config));
  return std::make_unique<PlainLoop<GroupedKv>>(config, cost, observer, GroupedKv(config, shared_content));
}

}  // namespace servecast::engine
