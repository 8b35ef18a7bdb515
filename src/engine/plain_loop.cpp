#include "engine/plain_loop.hpp"

#include "core/error.hpp"
#include "engine/prefix_offload.hpp"
#include "engine/sequence.hpp"
#include "memory/block_pool.hpp"

#include <algorithm>
#include <deque>
#include <vector>

namespace servecast::engine {
namespace {

using core::Time;

struct Sequence : SequenceState {
  std::int32_t published = 0;  // leading blocks whose content is registered
  bool limbo = false;          // finished, its blocks and seat not yet given back
  std::size_t piece = 0;       // content piece of the next block to publish
  std::int64_t reserved = 0;   // blocks its longest output would take
  std::vector<memory::BlockId> blocks;
};

// Chain that token index `token` belongs to, given the piece to start looking from.
std::uint64_t chain_of(const workload::Request& request, std::int32_t token, std::size_t& piece) {
  const auto& pieces = request.content.pieces;
  while (piece < pieces.size() && pieces[piece].end <= token) ++piece;
  if (piece < pieces.size()) return pieces[piece].chain;
  if (request.content.tail != 0) return request.content.tail;
  return private_chain(request.id);
}

class PlainLoop final : public Replica {
 public:
  PlainLoop(const Config& config, const cost::StepCost& cost, Observer& observer)
      : config_(config),
        cost_(cost),
        observer_(observer),
        pool_(config.blocks),
        offload_(config),
        window_(cost.needs_window()),
        watermark_(static_cast<std::int64_t>(config.watermark * static_cast<double>(config.blocks))) {}

  void enqueue(const workload::Request& request, std::int32_t) override {
    auto sequence = spare();
    sequence->request = request;
    sequence->reserved =
        blocks_for(request.prompt_tokens + output_limit(request, config_.max_model_len), config_.block_size);
    waiting_.push_back(std::move(sequence));
  }

  Run advance(Time now, Time horizon, const cost::LinkOffer& offer) override;
  Run cut(Time) override { return run_; }
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return !waiting_.empty() || !active_.empty(); }
  Load load(std::int32_t) const override {
    return {static_cast<std::int32_t>(waiting_.size()), static_cast<std::int32_t>(active_.size()), pool_.used(),
            pool_.cached(), pool_.total()};
  }
  // Blocks of a request that has just ended count as internal.
  SlotUse slots(std::int32_t) const override {
    std::int64_t tokens = 0;
    for (const Owned& sequence : active_) tokens += sequence->computed;
    return paged_use(pool_.used(), pool_.references(), tokens, config_.block_size);
  }
  Totals totals() const override { return totals_; }
  std::span<const Transfer> transfers() const override { return offload_.transfers(); }

 private:
  using Owned = std::unique_ptr<Sequence>;

  Owned spare() {
    if (spares_.empty()) return std::make_unique<Sequence>();
    Owned sequence = std::move(spares_.back());
    spares_.pop_back();
    auto blocks = std::move(sequence->blocks);
    blocks.clear();
    *sequence = Sequence{};
    sequence->blocks = std::move(blocks);
    return sequence;
  }

  bool schedule(Time now);
  bool schedule_running(Time now);
  void admit_waiting();
  bool admit(Sequence& sequence);
  std::int64_t lookup(Sequence& sequence);
  std::int64_t lookup_host(const Sequence& sequence, std::int64_t from) const;
  void load(Sequence& sequence, std::int64_t from, std::int64_t blocks);
  bool grow(Sequence& sequence, std::int32_t tokens);
  void publish(Sequence& sequence);
  void preempt_last(Time now);
  void release(Owned sequence);
  bool release_limbo();
  std::int64_t promised() const;
  bool wastes_slot(const Sequence& s) const {
    return config_.async_scheduling && config_.stop == Stop::Eos && s.tokens() < config_.max_model_len;
  }

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  memory::BlockPool pool_;
  PrefixOffload offload_;
  std::int32_t window_;
  std::int64_t watermark_;
  std::deque<Owned> waiting_;
  std::vector<Owned> active_;  // in order of admission; holds the running, then frees them
  std::vector<Owned> limbo_;
  std::vector<Owned> spares_;
  std::vector<Owned> kept_, done_;  // scratch
  std::vector<memory::BlockId> hits_;
  Run run_;
  cost::StepTime step_;
  std::int32_t scheduled_decoders_ = 0;
  std::int32_t scheduled_prefill_tokens_ = 0;
  std::int32_t budget_ = 0;
  bool in_progress_ = false;
  Totals totals_;
};

Run PlainLoop::advance(Time now, Time, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  offload_.begin();
  while (!schedule(now)) {
    if (!release_limbo()) return run_;
  }
  cost::StepShape shape;
  for (const Owned& sequence : active_) {
    if (sequence->scheduled > 0) charge(*sequence, cost_, window_, shape);
  }
  step_ = offer.nominal() ? cost_.step(shape) : cost_.step(shape, offer);
  if (config_.offload_blocks > 0) offload_.play(step_, totals_);
  SERVECAST_ENSURE(step_.total.ps > 0, "a step of {} ps at {} ps", step_.total.ps, now.ps);
  scheduled_decoders_ = shape.decode_requests;
  scheduled_prefill_tokens_ = shape.prefill_tokens;
  run_ = {now, now + step_.total, 1};
  in_progress_ = true;
  return run_;
}

// One pass of the scheduler. False: nothing could be scheduled, and another pass would not change that.
bool PlainLoop::schedule(Time now) {
  for (;;) {
    budget_ = config_.max_num_batched_tokens;
    for (Owned& sequence : active_) sequence->scheduled = 0;
    const bool preempted = schedule_running(now);
    if (!preempted) admit_waiting();
    for (const Owned& sequence : active_) {
      if (sequence->scheduled > 0) return true;
    }
    if (!preempted) return false;
  }
}

// Running list, in order of admission. Returns whether anything was preempted.
bool PlainLoop::schedule_running(Time now) {
  bool preempted = false;
  for (std::size_t i = 0; i < active_.size() && budget_ > 0; ++i) {
    Sequence& s = *active_[i];
    std::int32_t n = s.stopped ? 1 : s.tokens() - s.computed;
    const std::int32_t threshold = config_.long_prefill_token_threshold;
    if (threshold > 0 && n > threshold) n = threshold;
    n = std::min(n, budget_);
    bool self = false;
    while (!self && !grow(s, s.computed + n)) {
      self = i + 1 == active_.size();
      preempt_last(now);
      preempted = true;
    }
    if (self) break;
    s.from = s.computed;
    s.scheduled = n;
    s.computed += n;
    budget_ -= n;
    publish(s);
  }
  return preempted;
}

void PlainLoop::admit_waiting() {
  while (!waiting_.empty() && budget_ > 0 &&
         static_cast<std::int32_t>(active_.size() + limbo_.size()) < config_.max_num_seqs) {
    if (!admit(*waiting_.front())) return;
    active_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// Tries to start a waiting request: prefix hits, admission gate, blocks of its first chunk.
bool PlainLoop::admit(Sequence& s) {
  const std::int64_t size = config_.block_size;
  const std::int64_t hit_blocks = config_.enable_prefix_caching ? lookup(s) : 0;
  const std::int64_t host_blocks = lookup_host(s, hit_blocks);
  const auto hit_tokens = static_cast<std::int32_t>((hit_blocks + host_blocks) * size);
  std::int32_t n = s.tokens() - hit_tokens;
  const std::int32_t threshold = config_.long_prefill_token_threshold;
  if (threshold > 0 && n > threshold) n = threshold;
  if (!config_.enable_chunked_prefill && n > budget_) return false;
  n = std::min(n, budget_);
  std::int64_t unreferenced = 0;
  for (const memory::BlockId block : hits_) unreferenced += pool_.references(block) == 0 ? 1 : 0;
  const std::int64_t reserve = active_.empty() ? 0 : watermark_;
  const std::int64_t whole = blocks_for(s.tokens(), size) - hit_blocks + unreferenced;
  const std::int64_t now = blocks_for(hit_tokens + n, size) - hit_blocks + unreferenced;
  std::int64_t need = config_.reserve_full_isl ? std::max(whole, now) : now;
  if (config_.capacity_policy == CapacityPolicy::GuaranteedNoEvict)
    need = s.reserved - hit_blocks + unreferenced + promised();
  if (need + reserve > pool_.free()) return false;

  for (const memory::BlockId block : hits_) {
    pool_.retain(block);
    s.blocks.push_back(block);
  }
  s.published = static_cast<std::int32_t>(hit_blocks);
  s.computed = hit_tokens + n;
  s.from = hit_tokens;
  s.scheduled = n;
  s.phase = Phase::Prefill;
  load(s, hit_blocks, host_blocks);
  SERVECAST_ENSURE(grow(s, s.computed), "admission of request {} past its gate", s.request.id.value);
  budget_ -= n;
  if (config_.enable_prefix_caching) {
    publish(s);
    observer_.prefix_lookup(s.request.id, s.tokens(), hit_tokens, s.was_preempted);
  }
  return true;
}

// Blocks that what runs may still ask for.
std::int64_t PlainLoop::promised() const {
  std::int64_t blocks = 0;
  for (const Owned& s : active_) blocks += s->reserved - static_cast<std::int64_t>(s->blocks.size());
  return blocks;
}

// Leading blocks of the sequence that the pool still holds, at most all tokens but the last; fills hits_.
std::int64_t PlainLoop::lookup(Sequence& s) {
  hits_.clear();
  const std::int64_t cap = (s.tokens() - 1) / config_.block_size;
  std::size_t piece = 0;
  for (std::int64_t i = 0; i < cap; ++i) {
    const auto last = static_cast<std::int32_t>((i + 1) * config_.block_size - 1);
    const auto block = pool_.find(memory::content_key(chain_of(s.request, last, piece), i));
    if (!block) break;
    hits_.push_back(*block);
  }
  return static_cast<std::int64_t>(hits_.size());
}

// Blocks behind the first `from` ones that the host holds, at most all tokens but the last.
std::int64_t PlainLoop::lookup_host(const Sequence& s, std::int64_t from) const {
  if (offload_.empty()) return 0;
  const std::int64_t cap = (s.tokens() - 1) / config_.block_size;
  std::size_t piece = 0;
  std::int64_t i = from;
  for (; i < cap; ++i) {
    const auto last = static_cast<std::int32_t>((i + 1) * config_.block_size - 1);
    if (!offload_.holds(memory::content_key(chain_of(s.request, last, piece), i))) break;
  }
  return i - from;
}

// The host's copies of blocks [from, from + blocks) are read before anything is written over them.
void PlainLoop::load(Sequence& s, std::int64_t from, std::int64_t blocks) {
  std::size_t piece = 0;
  for (std::int64_t i = from; i < from + blocks; ++i) {
    const auto last = static_cast<std::int32_t>((i + 1) * config_.block_size - 1);
    offload_.load(memory::content_key(chain_of(s.request, last, piece), i));
  }
}

// Blocks for the first `tokens` tokens; false and unchanged when the pool cannot give them.
bool PlainLoop::grow(Sequence& s, std::int32_t tokens) {
  const std::int64_t need = blocks_for(tokens, config_.block_size) - static_cast<std::int64_t>(s.blocks.size());
  if (need > pool_.free()) return false;
  for (std::int64_t i = 0; i < need; ++i) {
    s.blocks.push_back(pool_.allocate());
    if (config_.offload_blocks > 0) offload_.evicted(pool_.evicted());
  }
  return true;
}

void PlainLoop::publish(Sequence& s) {
  if (!config_.enable_prefix_caching) return;
  const std::int32_t full = std::min(s.computed, s.tokens()) / config_.block_size;
  for (; s.published < full; ++s.published) {
    const std::int32_t last = (s.published + 1) * config_.block_size - 1;
    std::size_t piece = s.published == 0 ? 0 : s.piece;
    const auto key = memory::content_key(chain_of(s.request, last, piece), s.published);
    s.piece = piece;
    pool_.publish(s.blocks[static_cast<std::size_t>(s.published)], key);
    if (config_.offload_blocks > 0) offload_.filled(key);
  }
}

void PlainLoop::preempt_last(Time now) {
  Owned victim = std::move(active_.back());
  active_.pop_back();
  if (victim->stopped) {
    release(std::move(victim));
    return;
  }
  observer_.preempted(victim->request.id, now);
  ++totals_.preemptions;
  pool_.release_reversed(victim->blocks);
  victim->blocks.clear();
  victim->computed = victim->published = victim->scheduled = 0;
  victim->piece = 0;
  victim->phase = Phase::Prefill;
  victim->was_preempted = true;
  waiting_.push_front(std::move(victim));
}

void PlainLoop::release(Owned sequence) {
  pool_.release_reversed(sequence->blocks);
  sequence->blocks.clear();
  spares_.push_back(std::move(sequence));
}

bool PlainLoop::release_limbo() {
  const bool any = !limbo_.empty();
  for (Owned& sequence : limbo_) release(std::move(sequence));
  limbo_.clear();
  return any;
}

void PlainLoop::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  add_step(totals_, step_,
           {scheduled_decoders_, 0, scheduled_prefill_tokens_, pool_.used(), pool_.references() - pool_.used(),
            static_cast<std::int32_t>(active_.size()), slots(0)});
  release_limbo();
  std::vector<Owned>& kept = kept_;
  std::vector<Owned>& done = done_;
  kept.clear();
  done.clear();
  for (Owned& sequence : active_) {
    Sequence& s = *sequence;
    if (s.stopped && s.scheduled > 0) {
      ++totals_.wasted_slots;
      --totals_.decode_tokens;
      done.push_back(std::move(sequence));
      continue;
    }
    const bool emits = s.scheduled > 0 && s.computed == s.tokens();
    if (emits) {
      s.phase = Phase::Decode;
      emit(s, observer_, run_.end);
      if (s.generated == s.output()) {
        if (wastes_slot(s))
          s.stopped = true;
        else
          s.limbo = true;
      }
    }
    if (s.limbo)
      done.push_back(std::move(sequence));
    else
      kept.push_back(std::move(sequence));
  }
  std::swap(active_, kept_);
  for (Owned& sequence : done) {
    if (config_.async_scheduling && sequence->limbo && has_work())
      limbo_.push_back(std::move(sequence));
    else
      release(std::move(sequence));
  }
}

}  // namespace

std::unique_ptr<Replica> make_plain_loop(const Config& config, const cost::StepCost& cost, Observer& observer) {
  return std::make_unique<PlainLoop>(config, cost, observer);
}

}  // namespace servecast::engine
