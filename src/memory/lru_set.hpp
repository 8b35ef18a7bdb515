// Content keys of one tier in order of use, with a capacity: what is there, not where. Least recently used out first.
// Counts in blocks. It moves nothing and knows no other tier.
#pragma once

#include "memory/block_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <vector>

namespace servecast::memory {

class LruSet {
 public:
  explicit LruSet(std::int64_t capacity) : capacity_(capacity) {}

  std::int64_t capacity() const { return capacity_; }
  std::int64_t held() const { return static_cast<std::int64_t>(where_.size()); }
  bool holds(ContentKey key) const { return where_.contains(key); }

  void touch(ContentKey key) {  // Requires: holds(key)
    const std::int32_t id = where_.find(key)->second;
    unlink(id);
    append(id);
  }
  // Takes the key in as the most recently used; returns the key that leaves for it, 0: none. Requires: !holds(key),
  // capacity() > 0.
  ContentKey insert(ContentKey key) {
    ContentKey out = 0;
    if (held() == capacity_) {
      out = at(head_).key;
      erase(out);
    }
    std::int32_t id = static_cast<std::int32_t>(entries_.size());
    if (spares_.empty()) {
      entries_.emplace_back();
    } else {
      id = spares_.back();
      spares_.pop_back();
    }
    at(id).key = key;
    where_.emplace(key, id);
    append(id);
    return out;
  }
  void erase(ContentKey key) {  // Requires: holds(key)
    const auto found = where_.find(key);
    unlink(found->second);
    spares_.push_back(found->second);
    where_.erase(found);
  }

 private:
  struct Entry {
    ContentKey key = 0;
    std::int32_t next = -1, previous = -1;
  };
  Entry& at(std::int32_t id) { return entries_[static_cast<std::size_t>(id)]; }
  void unlink(std::int32_t id) {
    const Entry& entry = at(id);
    (entry.previous >= 0 ? at(entry.previous).next : head_) = entry.next;
    (entry.next >= 0 ? at(entry.next).previous : tail_) = entry.previous;
  }
  void append(std::int32_t id) {
    at(id).previous = tail_;
    at(id).next = -1;
    (tail_ >= 0 ? at(tail_).next : head_) = id;
    tail_ = id;
  }

  std::int64_t capacity_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> spares_;
  boost::unordered_flat_map<ContentKey, std::int32_t> where_;  // never iterated
  std::int32_t head_ = -1, tail_ = -1;                         // least and most recently used
};

}  // namespace servecast::memory
