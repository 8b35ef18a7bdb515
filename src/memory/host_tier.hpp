// Content of blocks that host memory keeps a copy of, by content key: least recently used out first. It knows what is
// there, not where; moving bytes is the engine's. Counts in blocks.
#pragma once

#include "memory/block_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <list>

namespace servecast::memory {

class HostTier {
 public:
  explicit HostTier(std::int64_t capacity) : capacity_(capacity) {}

  std::int64_t capacity() const { return capacity_; }
  std::int64_t held() const { return static_cast<std::int64_t>(order_.size()); }
  bool holds(ContentKey key) const { return where_.contains(key); }

  // Somebody reads the content. Requires: holds(key).
  void touch(ContentKey key) { order_.splice(order_.end(), order_, where_.find(key)->second); }
  // Keeps the content, at the cost of the least recently used; false where it was there already.
  bool insert(ContentKey key) {
    if (capacity_ == 0) return false;
    if (holds(key)) {
      touch(key);
      return false;
    }
    if (held() == capacity_) {
      where_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(key);
    where_.emplace(key, std::prev(order_.end()));
    return true;
  }

 private:
  std::int64_t capacity_;
  std::list<ContentKey> order_;                                                   // least recently used first
  boost::unordered_flat_map<ContentKey, std::list<ContentKey>::iterator> where_;  // never iterated
};

}  // namespace servecast::memory
