#include "memory/buddy_allocator.hpp"

#include "core/error.hpp"

#include <bit>

namespace servecast::memory {
namespace {

std::size_t order_of(std::int64_t power_of_two) {
  return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(power_of_two)));
}

std::int64_t size_of(std::size_t order) { return std::int64_t{1} << order; }

}  // namespace

BuddyAllocator::BuddyAllocator(std::int64_t slots) : total_(slots), free_(slots) {
  SERVECAST_ENSURE(slots >= 1, "an arena of {} slots", slots);
  free_blocks_.resize(order_of(rounded(slots)) + 1);
  std::int64_t begin = 0;
  for (std::size_t order = free_blocks_.size(); order-- > 0;) {
    if ((slots & size_of(order)) == 0) continue;
    free_blocks_[order].insert(begin);
    begin += size_of(order);
  }
}

std::int64_t BuddyAllocator::rounded(std::int64_t slots) {
  SERVECAST_ENSURE(slots >= 1, "a region of {} slots", slots);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(slots)));
}

std::int64_t BuddyAllocator::largest_free() const {
  for (std::size_t order = free_blocks_.size(); order-- > 0;) {
    if (!free_blocks_[order].empty()) return size_of(order);
  }
  return 0;
}

std::optional<Region> BuddyAllocator::allocate(std::int64_t slots) {
  const std::size_t wanted = order_of(rounded(slots));
  std::size_t order = wanted;
  while (order < free_blocks_.size() && free_blocks_[order].empty()) ++order;
  if (order >= free_blocks_.size()) return std::nullopt;
  const std::int64_t begin = *free_blocks_[order].begin();
  free_blocks_[order].erase(free_blocks_[order].begin());
  while (order > wanted) {
    --order;
    free_blocks_[order].insert(begin + size_of(order));
  }
  free_ -= size_of(wanted);
  return Region{begin, size_of(wanted)};
}

void BuddyAllocator::release(const Region& region) {
  std::size_t order = order_of(region.slots);
  SERVECAST_ENSURE(free_blocks_[order].count(region.begin) == 0, "region at {} released twice", region.begin);
  std::int64_t begin = region.begin;
  while (order + 1 < free_blocks_.size() && free_blocks_[order].erase(begin ^ size_of(order)) > 0) {
    begin &= ~size_of(order);
    ++order;
  }
  free_blocks_[order].insert(begin);
  free_ += region.slots;
}

void BuddyAllocator::check() const {
  std::int64_t free = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> spans;
  for (std::size_t order = 0; order < free_blocks_.size(); ++order) {
    for (const std::int64_t begin : free_blocks_[order]) {
      SERVECAST_ENSURE(begin % size_of(order) == 0, "block of {} at {}", size_of(order), begin);
      spans.insert({begin, begin + size_of(order)});
      free += size_of(order);
    }
  }
  SERVECAST_ENSURE(free == free_, "{} free slots counted, {} kept", free, free_);
  std::int64_t end = 0;
  for (const auto& [begin, next] : spans) {
    SERVECAST_ENSURE(begin >= end && next <= total_, "free block [{}, {}) overlaps or leaves the arena", begin, next);
    end = next;
  }
}

}  // namespace servecast::memory
