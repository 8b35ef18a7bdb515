// SGLang's hierarchical cache beside its loop: pages read ahead from storage into the host, pages loaded from the host
// when a request starts, copies that go the other way, and what all of it takes. Rules: sglang's hiradix_cache.py and
// cache_controller.py; the tree itself is memory/radix_tiers.cpp.
#include "engine/sglang_replica.hpp"

#include <algorithm>

namespace servecast::engine {
namespace {

using core::Duration;
using core::Time;

// Specified: hiradix_cache.py (load_back_threshold, and the defaults of hicache-storage-backend-extra-config).
constexpr std::int64_t least_load = 10;       // tokens on the host that are worth loading
constexpr std::int64_t least_prefetch = 256;  // tokens in storage that are worth reading
constexpr double timeout_base_s = 1.0;
constexpr double timeout_per_ki_token_s = 0.25;
// Specified: cache_controller.py, of the host's pages beyond as many as the GPU has.
constexpr double most_prefetching = 0.8;

}  // namespace

// The scheduler looks at what came since it last did: copies that finished steps asked for, and new requests.
void SglangLoop::begin_tiers(Time now) {
  links_.clear_transfers();
  loads_ = 0;
  copy_out(asked_);
  now_ = now;
  for (Sequence* s : unasked_) ask(*s, now);
  unasked_.clear();
}

// Starts reading what storage has of a prompt beyond the GPU and the host, if that is worth it and the host has room.
void SglangLoop::ask(Sequence& s, Time now) {
  const std::int64_t size = config_.block_size;
  const memory::RunKey key = key_of(s, (s.tokens() - 1) / size);
  memory::RadixCache& cache = pool_.cache();
  s.prefetch = {};
  const memory::RadixCache::Found hit = cache.match(key);
  const std::int64_t known = hit.pages + hit.host_pages;
  const std::int64_t pages = cache.in_storage(key) - known;
  if (pages * size < least_prefetch) return;
  const auto room = static_cast<double>(config_.offload_blocks - pool_.total());
  if (static_cast<double>(prefetching_) >= most_prefetching * room) return;
  const std::int64_t granted = cache.reserve_host(pages);
  if (granted < pages) {
    cache.release_host(granted);
    return;
  }
  prefetching_ += pages;
  s.prefetch = {Prefetch::State::Running, now, std::max(now, links_.read_free()), known, pages};
  links_.read(now, pages);
}

// When the policy lets the request start: with everything there, or at the end of its patience.
Time SglangLoop::prefetch_end(const Sequence& s, bool complete) const {
  const Prefetch& p = s.prefetch;
  if (complete) return p.begin + links_.read_time(p.pages);
  const double kilo = static_cast<double>(p.pages) * config_.block_size / 1024;
  return p.asked + core::seconds(timeout_base_s + timeout_per_ki_token_s * kilo) + Duration{1};
}

// Whether a waiting request's prefetch lets it start now; if so, it ends with what has come.
bool SglangLoop::may_start(Sequence& s) {
  const Prefetch& p = s.prefetch;
  if (p.state != Prefetch::State::Running) return true;
  const bool complete = now_ >= prefetch_end(s, true);
  const bool out_of_time = config_.offload_prefetch == OffloadPrefetch::Timeout && now_ >= prefetch_end(s, false);
  if (!complete && !out_of_time && config_.offload_prefetch != OffloadPrefetch::BestEffort) return false;
  std::int64_t there = p.pages;
  if (!complete) {
    // Whole pages come one after the other, all alike.
    const auto took = static_cast<double>(std::max<std::int64_t>((now_ - p.begin).ps, 0));
    const auto all = static_cast<double>(links_.read_time(p.pages).ps);
    there = std::min(p.pages - 1, static_cast<std::int64_t>(took / all * static_cast<double>(p.pages)));
    links_.cancel_read(now_, prefetch_end(s, true), p.pages - there);
  }
  end_prefetch(s, there);
  return true;
}

void SglangLoop::end_prefetch(Sequence& s, std::int64_t pages) {
  Prefetch& p = s.prefetch;
  prefetching_ -= p.pages;
  pool_.cache().release_host(p.pages);
  if (pages > 0) pool_.cache().insert_host(key_of(s, p.from + pages), p.from);
  p.pages = pages;
  p.state = Prefetch::State::Over;
}

// Puts the host's part of a locked match on the GPU, all of it or nothing. True: done, and locked.
bool SglangLoop::load_back(memory::RadixCache::Found& hit) {
  if (hit.host_pages * config_.block_size < least_load || !pool_.load(hit)) return false;
  pool_.cache().unlock(hit.node);
  loads_ += hit.host_pages;
  hit.pages += hit.host_pages;
  hit.node = hit.host_node;
  return true;
}

// Pages [from, s.shared) came from the host; those that the request had read from storage before count for that.
void SglangLoop::count_tier_hits(const Sequence& s, std::int64_t from) {
  std::int64_t storage = 0;
  if (s.prefetch.state == Prefetch::State::Over)
    storage = std::max<std::int64_t>(
        std::min(s.shared, s.prefetch.from + s.prefetch.pages) - std::max(from, s.prefetch.from), 0);
  links_.use().storage_hit_tokens += storage * config_.block_size;
  links_.use().host_hit_tokens += (s.shared - from - storage) * config_.block_size;
}

// The links learn of the copies that the cache has made since.
void SglangLoop::copy_out(Time at) {
  const memory::RadixCache& cache = pool_.cache();
  out_ = std::max(out_, links_.store(at, cache.host_copies() - copied_));
  write_ = std::max(write_, links_.write(at, cache.storage_copies() - written_));
  totals_.stored_blocks = copied_ = cache.host_copies();
  written_ = cache.storage_copies();
}

// Layers are loaded one after the other while the step computes those before: of two such chains of equal links, the
// longer one counts in full and one layer of the other beside it. Copies the other way hold the step up where they take
// longer.
void SglangLoop::play_tiers() {
  copy_out(now_);
  const Duration loading = links_.load(now_, loads_, 0) - now_;
  totals_.loaded_blocks += loads_;
  Duration total = step_.total;
  if (loading.ps > 0)
    total = std::max(step_.total + Duration{loading.ps / config_.layers},
                     loading + Duration{step_.total.ps / config_.layers});
  total = std::max({total, out_ - now_, write_ - now_});
  links_.use().held_up += total - step_.total;
  totals_.tiers = links_.use();
  step_.network += total - step_.total;
  step_.total = total;
}

// When the first waiting request may start; now: none waits for storage.
Time SglangLoop::wake(Time now) const {
  Time next = Time::never();
  for (const Owned& s : waiting_) {
    if (s->prefetch.state != Prefetch::State::Running) continue;
    next = std::min(next, prefetch_end(*s, true));
    if (config_.offload_prefetch == OffloadPrefetch::Timeout) next = std::min(next, prefetch_end(*s, false));
  }
  return next == Time::never() ? now : std::max(now, next);
}

}  // namespace servecast::engine
