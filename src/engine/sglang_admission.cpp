#include "engine/sglang_replica.hpp"

#include <algorithm>

namespace servecast::engine {
namespace {

// Specified: sglang schedule_policy.py.
constexpr std::size_t longest_sorted_queue = 128;  // a longer one is served first come, first served
constexpr std::int64_t little_cached = 32;         // tokens; requests with no more look for a prefix in the queue
constexpr std::int64_t much_common = 32;           // tokens; with more, one of two waits for the other

}  // namespace

// The first `pages` pages as the cache names them: a page is told by the chain of its last token.
memory::RunKey SglangLoop::key_of(const Sequence& s, std::int64_t pages) const {
  memory::RunKey key;
  for (const workload::ContentPiece& piece : s.request.content.pieces)
    memory::append_run(key, piece.chain, std::min<std::int64_t>(piece.end / config_.block_size, pages));
  const std::uint64_t tail = s.request.content.tail;
  memory::append_run(key, tail != 0 ? tail : private_chain(s.request.id), pages);
  return key;
}

PrefillBudget SglangLoop::budget() const {
  PrefillBudget b;
  const std::int64_t joining = config_.enable_mixed_chunk ? static_cast<std::int64_t>(running_.size()) : 0;
  std::int64_t outputs = 0;
  for (const Owned& s : running_) outputs += s->counted_output();
  // A request of pages beyond one token may leave almost one of them unused.
  const std::int64_t rounding = static_cast<std::int64_t>(running_.size()) * (config_.block_size - 1);
  b.expected = static_cast<double>(outputs) * ratio_.value() + static_cast<double>(joining + rounding);
  b.input = config_.max_prefill_tokens - joining;
  if (config_.enable_chunked_prefill)
    b.chunk = config_.max_num_batched_tokens - joining;
  else
    b.input = std::min<std::int64_t>(b.input, config_.max_num_batched_tokens - joining);
  return b;
}

// Takes the unfinished prompt and what fits of the queue into this step. False: no prompt can run now.
bool SglangLoop::form_prefill() {
  if ((full_ || waiting_.empty()) && !chunked_) return false;
  const std::int32_t seats = seats_left();
  if (seats <= 0 && !chunked_) {
    full_ = true;
    return false;
  }
  order_waiting();
  PrefillBudget b = budget();
  if (chunked_ && !continue_chunk(b)) return false;
  for (std::size_t place = 0; place < waiting_.size() && !b.step_is_full();) {
    if (static_cast<std::int32_t>(prefill_.size()) >= seats) {
      full_ = true;
      break;
    }
    if (config_.storage_blocks > 0 && !may_start(*waiting_[place])) {
      ++place;
      continue;
    }
    const Verdict next = start(place, b);
    if (next == Verdict::NoMemory) full_ = true;
    if (next != Verdict::Go) break;
  }
  std::int64_t pages = 0;
  for (const Owned& s : prefill_) pages += pages_for(s->computed) - s->shared - s->own;
  SERVECAST_ENSURE(pool_.reserve(pages), "a prefill step of {} pages with {} obtainable", pages, pool_.obtainable());
  pool_.take(pages);
  held_ += pages;
  for (const Owned& s : prefill_) {
    s->own = pages_for(s->computed) - s->shared;
    charge(*s, cost_, window_, shape_);
  }
  return !prefill_.empty();
}

// Longest cached prefix first. Of requests that have little cached but much in common, all but the first come last, so
// that the prefix is computed once.
void SglangLoop::order_waiting() {
  if (config_.schedule_policy != SchedulePolicy::Lpm || !config_.enable_prefix_caching) return;
  if (waiting_.size() > longest_sorted_queue) return;
  const std::int64_t size = config_.block_size;
  memory::RadixCache queue;
  for (const Owned& s : waiting_) {
    const memory::RunKey key = key_of(*s, s->tokens() / size);
    s->cached = pool_.cache().match(key).pages;
    s->postponed = false;
    if (s->cached * size > little_cached) continue;
    s->postponed = queue.match(key).pages * size > much_common;
    if (!s->postponed) queue.insert(key);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Owned& a, const Owned& b) {
    if (a->postponed != b->postponed) return b->postponed;
    return !a->postponed && a->cached > b->cached;
  });
}

// The next chunk of the unfinished prompt; false when not one page of memory can be had for it.
bool SglangLoop::continue_chunk(PrefillBudget& b) {
  const std::int64_t size = config_.block_size;
  const std::int64_t left = chunked_->tokens() - chunked_->computed;
  std::int64_t n = std::min(b.chunk, static_cast<std::int64_t>(b.total_rest(obtainable_tokens())));
  if (n <= 0) n = b.chunk;  // estimates never stop a prompt that has begun
  n = std::min(n, obtainable_tokens());
  if (n < left) n = n / size * size;
  if (n <= 0) return false;
  n = std::min(n, left);
  b.take(pages_for(n) * size, n == left ? chunked_->counted_output() : 0);
  begin(std::move(chunked_), static_cast<std::int32_t>(n));
  return true;
}

SglangLoop::Verdict SglangLoop::verdict(const PrefillBudget& b) const {
  const std::int64_t obtainable = obtainable_tokens();
  if (b.total_rest(obtainable) <= 0 || b.prompt_rest(obtainable) <= 0) return Verdict::NoMemory;
  return b.step_is_full() ? Verdict::StepFull : Verdict::Go;
}

// Starts a request of the queue, whole or with a first chunk. Go: another one may follow.
SglangLoop::Verdict SglangLoop::start(std::size_t place, PrefillBudget& b) {
  Sequence& s = *waiting_[place];
  const std::int64_t size = config_.block_size;
  memory::RadixCache::Found hit;
  if (config_.enable_prefix_caching) hit = pool_.cache().match(key_of(s, (s.tokens() - 1) / size));
  std::int64_t left = s.tokens() - hit.pages * size;
  const std::int64_t whole = left + s.counted_output() + size - 1;
  // A request that has the replica to itself starts whatever is expected of it: it fits.
  const bool alone = running_.empty() && prefill_.empty();
  const auto too_big = [&] { return !alone && static_cast<double>(whole) >= b.total_rest(obtainable_tokens()); };
  const auto rounded = [&] { return pages_for(left) * size; };
  if (too_big()) return Verdict::NoMemory;
  if (rounded() - hit.host_pages * size >= b.input && !prefill_.empty()) return Verdict::StepFull;
  pool_.cache().lock(hit.node);
  Verdict refused = too_big() ? Verdict::NoMemory : Verdict::Go;  // locking takes evictable pages away
  const std::int64_t on_gpu = hit.pages;
  if (hit.host_pages > 0 && refused == Verdict::Go) {
    if (load_back(hit)) left = s.tokens() - hit.pages * size;
    if (rounded() >= b.input && !prefill_.empty()) refused = Verdict::StepFull;
  }
  std::int64_t n = left;
  if (rounded() > b.chunk) {
    n = b.chunk / size * size;
    if (n <= 0 && refused == Verdict::Go) refused = Verdict::StepFull;
  }
  if (refused != Verdict::Go) {
    pool_.cache().unlock(hit.node);
    return refused;
  }
  s.node = hit.node;
  s.shared = hit.pages;
  held_ += hit.pages;
  s.computed = static_cast<std::int32_t>(hit.pages * size);
  if (config_.enable_prefix_caching) observer_.prefix_lookup(s.request.id, s.tokens(), s.computed, s.was_preempted);
  if (hit.pages > on_gpu) count_tier_hits(s, on_gpu);
  b.take(n == left ? rounded() : n, n == left ? s.counted_output() : 0);
  Owned sequence = std::move(waiting_[place]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
  begin(std::move(sequence), static_cast<std::int32_t>(n));
  return verdict(b);
}

void SglangLoop::begin(Owned sequence, std::int32_t tokens) {
  sequence->from = sequence->computed;
  sequence->scheduled = tokens;
  sequence->computed += tokens;
  prefill_.push_back(std::move(sequence));
}

}  // namespace servecast::engine
