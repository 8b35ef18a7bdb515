#include "engine/sglang_loop.hpp"

#include "engine/sglang_replica.hpp"

#include <algorithm>

namespace servecast::engine {

using core::Time;

namespace {

memory::RadixTiers tiers_of(const Config& config) {
  // Specified: hiradix_cache.py, write_through_threshold.
  const std::int32_t copied_at = config.offload_write == OffloadWrite::Back      ? 0
                                 : config.offload_write == OffloadWrite::Through ? 1
                                                                                 : 2;
  return {config.enable_prefix_caching ? config.offload_blocks : 0, config.storage_blocks, copied_at};
}

}  // namespace

SglangLoop::SglangLoop(const Config& config, const cost::StepCost& cost, Observer& observer)
    : config_(config),
      cost_(cost),
      observer_(observer),
      pool_(config.blocks, tiers_of(config)),
      window_(cost.needs_window()),
      ratio_(config.schedule_conservativeness),
      links_(config) {}

void SglangLoop::enqueue(const workload::Request& request, std::int32_t) {
  auto sequence = std::make_unique<Sequence>();
  sequence->request = request;
  sequence->limit = output_limit(request, config_.max_model_len);
  if (config_.storage_blocks > 0) unasked_.push_back(sequence.get());
  waiting_.push_back(std::move(sequence));
}

Load SglangLoop::load(std::int32_t) const {
  const std::size_t running = running_.size() + prefill_.size() + (chunked_ ? 1 : 0);
  return {static_cast<std::int32_t>(waiting_.size()),
          static_cast<std::int32_t>(running),
          pool_.used(),
          pool_.cache().evictable(),
          pool_.total(),
          pool_.cache().host_pages(),
          pool_.cache().storage_pages()};
}

Run SglangLoop::advance(Time now, Time, const cost::LinkOffer& offer) {
  SERVECAST_ENSURE(!in_progress_, "advance during a run at {} ps", now.ps);
  run_ = {now, now, 0};
  if (hosted()) begin_tiers(now);
  if (!schedule(now)) {
    if (config_.storage_blocks > 0) run_.end = wake(now);
    return run_;
  }
  step_ = offer.nominal() ? cost_.step(shape_) : cost_.step(shape_, offer);
  if (hosted()) play_tiers();
  SERVECAST_ENSURE(step_.total.ps > 0, "a step of {} ps at {} ps", step_.total.ps, now.ps);
  run_ = {now, now + step_.total, 1};
  in_progress_ = true;
  return run_;
}

// Fills shape_, prefill_ and decoding_. False: there is nothing to do.
bool SglangLoop::schedule(Time now) {
  shape_ = {};
  decoding_ = false;
  if (running_.empty()) full_ = shrunk_ = false;
  if (chunked_) remember(*chunked_, chunked_->computed, true);
  if (form_prefill()) {
    if (config_.enable_mixed_chunk) decoding_ = decode(now, false);
    return true;
  }
  if (!running_.empty()) decoding_ = decode(now, true);
  return decoding_;
}

std::int64_t SglangLoop::pages_to_decode() const {
  if (config_.block_size == 1) return static_cast<std::int64_t>(running_.size());
  return std::count_if(running_.begin(), running_.end(),
                       [this](const Owned& s) { return s->computed % config_.block_size == 0; });
}

// Every running request computes one token. may_retract: a step of decodes alone, which makes itself room.
bool SglangLoop::decode(Time now, bool may_retract) {
  if (may_retract)
    make_room(now);
  else if (!pool_.reserve(pages_to_decode()))
    return false;
  for (const Owned& s : running_) {
    if (s->computed % config_.block_size == 0) {
      pool_.take(1);
      ++s->own;
      ++held_;
    }
    s->from = s->computed++;
    s->scheduled = 1;
    charge(*s, cost_, window_, shape_);
  }
  return !running_.empty();
}

// Retracts requests until the next token of the others fits: those with the fewest generated tokens first, of equals
// the longest prompt. One stays. Where it does not fit alone, an unfinished prompt gives way.
void SglangLoop::make_room(Time now) {
  if (pool_.reserve(pages_to_decode())) {
    ratio_.decode_step();
  } else {
    std::vector<std::size_t> order(running_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      const Sequence& x = *running_[a];
      const Sequence& y = *running_[b];
      if (x.generated != y.generated) return x.generated > y.generated;
      return x.request.prompt_tokens < y.request.prompt_tokens;
    });
    std::int64_t pages = pages_to_decode();
    do {
      if (order.size() == 1) break;
      Owned victim = std::move(running_[order.back()]);
      order.pop_back();
      pages -= victim->computed % config_.block_size == 0 ? 1 : 0;
      retract(std::move(victim), now);
    } while (!pool_.reserve(pages));
    std::erase(running_, nullptr);
    if (!pool_.reserve(pages) && chunked_) retract(std::move(chunked_), now);
    SERVECAST_ENSURE(pool_.reserve(pages), "{} obtainable pages are too few for one request", pool_.obtainable());
    std::int64_t generated = 0, limits = 0;
    for (const Owned& s : running_) {
      generated += s->generated;
      limits += s->limit;
    }
    ratio_.retracted(generated, limits, static_cast<std::int64_t>(running_.size()));
  }
  if (shrunk_) full_ = shrunk_ = false;
}

// Frees what the cache has not taken over and sends the request to the end of the queue.
void SglangLoop::retract(Owned sequence, Time now) {
  shrunk_ = true;
  release(*sequence);
  if (sequence->stopped) return;
  observer_.preempted(sequence->request.id, now);
  ++totals_.preemptions;
  sequence->computed = sequence->prefilled = 0;
  sequence->phase = Phase::Prefill;
  sequence->was_preempted = true;
  if (config_.storage_blocks > 0) unasked_.push_back(sequence.get());
  waiting_.push_back(std::move(sequence));
}

// Hands the pages of the first `tokens` tokens to the cache and holds them through it. partial: the prompt goes on.
// Tiers below count how often a request passes, even where it brings nothing new.
void SglangLoop::remember(Sequence& s, std::int32_t tokens, bool partial) {
  const std::int64_t full = tokens / config_.block_size;
  if (!config_.enable_prefix_caching || full < s.shared || (full == s.shared && !hosted())) return;
  const memory::RadixCache::Found found = pool_.adopt(key_of(s, full), s.shared, partial);
  s.own -= full - s.shared;
  s.shared = full;
  pool_.cache().lock(found.node);
  pool_.cache().unlock(s.node);
  s.node = found.node;
}

void SglangLoop::release(Sequence& s) {
  held_ -= s.shared + s.own;
  pool_.give(s.own);
  pool_.cache().unlock(s.node);
  s.own = s.shared = 0;
  s.node = memory::RadixCache::root;
}

// The scheduler learns what steps gave: finished prompts enter the cache, finished requests leave.
void SglangLoop::settle() {
  if (!unsettled_) return;
  unsettled_ = false;
  for (Owned& s : running_) {
    if (s->stopped) {
      remember(*s, s->tokens() - 1);
      release(*s);
      s.reset();
      shrunk_ = true;
    } else if (s->prefilled > 0) {
      remember(*s, s->prefilled);
      s->prefilled = 0;
    }
  }
  std::erase(running_, nullptr);
}

// The last page of each request is its own and may be part empty.
SlotUse SglangLoop::slots(std::int32_t) const {
  SlotUse use;
  for (const Owned& s : running_) use.internal += pages_for(s->computed) * config_.block_size - s->computed;
  for (const Owned& s : prefill_) use.internal += pages_for(s->computed) * config_.block_size - s->computed;
  if (chunked_) use.internal += pages_for(chunked_->computed) * config_.block_size - chunked_->computed;
  use.tokens = pool_.used() * config_.block_size - use.internal;
  return use;
}

void SglangLoop::commit() {
  SERVECAST_ENSURE(in_progress_, "commit without a run after {} ps", run_.end.ps);
  in_progress_ = false;
  StepCount count;
  count.prefill_tokens = shape_.prefill_tokens;
  count.used = pool_.used();
  count.saved = held_ - count.used;
  count.running = static_cast<std::int32_t>(running_.size() + prefill_.size());
  if (config_.block_size > 1)
    count.slots = slots(0);
  else
    count.slots.tokens = count.used;
  if (decoding_) {
    count.wasted = unsettled_ ? static_cast<std::int32_t>(std::count_if(running_.begin(), running_.end(),
                                                                        [](const Owned& s) { return s->stopped; }))
                              : 0;
    count.decoders = static_cast<std::int32_t>(running_.size()) - count.wasted;
  }
  add_step(totals_, step_, count);
  if (config_.async_scheduling) settle();  // results of the step before
  if (decoding_) emit_decodes();
  finish_prefills();
  if (!config_.async_scheduling) settle();
  if (!has_work()) ratio_.idle();
  asked_ = run_.end;
}

// One token for everything that decoded. Neighbours mostly saw the same gap, which is reported once.
void SglangLoop::emit_decodes() {
  core::Duration gap;
  std::int64_t weight = 0;
  for (const Owned& s : running_) {
    if (s->stopped) continue;
    const core::Duration own = run_.end - s->last_token;
    if (weight > 0 && own != gap) {
      observer_.token_gap(gap, weight);
      weight = 0;
    }
    gap = own;
    ++weight;
    s->last_token = run_.end;
    if (++s->generated < s->output()) continue;
    observer_.finished(s->request.id, run_.end, s->generated);
    s->stopped = unsettled_ = true;
  }
  if (weight > 0) observer_.token_gap(gap, weight);
}

// Prompts completed by this step emit a token and join the decoders.
void SglangLoop::finish_prefills() {
  for (Owned& s : prefill_) {
    if (s->computed < s->tokens()) {
      chunked_ = std::move(s);
      continue;
    }
    s->prefilled = s->computed;
    s->phase = Phase::Decode;
    emit(*s, observer_, run_.end);
    s->stopped = s->generated == s->output();
    unsettled_ = true;
    running_.push_back(std::move(s));
  }
  prefill_.clear();
}

std::unique_ptr<Replica> make_sglang_loop(const Config& config, const cost::StepCost& cost, Observer& observer) {
  SERVECAST_ENSURE(config.steps == StepKind::PrefillFirst, "a configuration of mixed steps");
  return std::make_unique<SglangLoop>(config, cost, observer);
}

}  // namespace servecast::engine
