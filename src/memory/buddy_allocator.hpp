// Contiguous regions of KV slots (one token each) by the buddy rule: a region's size is the next power of two, taken
// from the smallest free block that holds it, split in halves as needed; freed halves merge again. The arena need not
// be a power of two: it starts as the blocks of its binary digits, largest first.
//
// Deterministic: among free blocks of one size the lowest address is taken. Invariants: regions never overlap;
// allocated
// + free = total. It knows no requests and no bytes; the paged counterpart is memory/block_pool.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace servecast::memory {

struct Region {
  std::int64_t begin = 0;
  std::int64_t slots = 0;  // a power of two
};

class BuddyAllocator {
 public:
  // Requires: slots >= 1.
  explicit BuddyAllocator(std::int64_t slots);

  // What a region for that many slots takes: the next power of two. Requires: slots >= 1.
  static std::int64_t rounded(std::int64_t slots);

  std::int64_t total() const { return total_; }
  std::int64_t free() const { return free_; }
  std::int64_t largest_free() const;  // the largest region that could be had now, 0 if none
  bool fits(std::int64_t slots) const { return rounded(slots) <= largest_free(); }

  std::optional<Region> allocate(std::int64_t slots);
  // Requires: region came from allocate() and was not released.
  void release(const Region& region);
  // Walks every structure and throws LogicError where they disagree. For tests.
  void check() const;

 private:
  std::int64_t total_;
  std::int64_t free_;
  std::vector<std::set<std::int64_t>> free_blocks_;  // by log2 of the size: where they begin
};

}  // namespace servecast::memory
