// Pages of one rank, shared by a radix cache and by requests that hold pages of their own: counts without addresses.
// Invariant: available + pages of the cache + private pages = total. It does not know requests or tokens.
#pragma once

#include "core/error.hpp"
#include "memory/radix_cache.hpp"

#include <cstdint>

namespace servecast::memory {

class RadixPool {
 public:
  explicit RadixPool(std::int64_t pages, const RadixTiers& tiers = {}) : total_(pages), cache_(tiers) {}

  std::int64_t total() const { return total_; }
  std::int64_t available() const { return total_ - private_ - cache_.pages(); }
  std::int64_t obtainable() const { return available() + cache_.evictable(); }
  std::int64_t used() const { return total_ - obtainable(); }  // nothing can take these away
  RadixCache& cache() { return cache_; }
  const RadixCache& cache() const { return cache_; }

  // Makes `pages` available, evicting that many where fewer are; false when even that does not suffice. Evicting the
  // whole demand, not the shortage, is the engine's rule.
  bool reserve(std::int64_t pages) {
    if (available() < pages) cache_.evict(pages);
    return available() >= pages;
  }
  // Requires: that many are available.
  void take(std::int64_t pages) {
    SERVECAST_ENSURE(pages <= available(), "{} pages taken of {} available", pages, available());
    private_ += pages;
  }
  void give(std::int64_t pages) { private_ -= pages; }
  // A request's pages [held, key end) enter the cache: new ones are the cache's now, those it had already are freed.
  // partial: a part of a prompt.
  RadixCache::Found adopt(std::span<const Run> key, std::int64_t held, bool partial = false) {
    private_ -= (key.empty() ? 0 : key.back().end) - held;
    return cache_.insert(key, partial);
  }
  // Puts what only the host holds of a match on the GPU and locks all of it; false, and nothing is changed but what was
  // evicted, where there is no room. Requires: the part on the GPU is locked.
  bool load(const RadixCache::Found& match) {
    cache_.raise(match.host_node);
    cache_.lock(match.host_node);
    if (available() < 0) cache_.evict(match.host_pages);
    if (available() >= 0) return true;
    cache_.unlock(match.host_node);
    cache_.lower(match.host_node, match.node);
    return false;
  }

 private:
  std::int64_t total_;
  std::int64_t private_ = 0;
  RadixCache cache_;
};

}  // namespace servecast::memory
