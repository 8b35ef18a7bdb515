#include "memory/buddy_allocator.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <optional>
#include <vector>

using namespace servecast;
using memory::BuddyAllocator;
using memory::Region;

namespace {

// The same rule over a map of slots: free blocks are found by looking, nothing is kept.
class NaiveBuddies {
 public:
  explicit NaiveBuddies(std::int64_t slots) : taken_(static_cast<std::size_t>(slots)), root_(taken_.size()) {
    std::int64_t begin = 0;
    for (std::int64_t size = std::int64_t{1} << 40; size > 0; size /= 2) {
      if ((slots & size) == 0) continue;
      for (std::int64_t i = 0; i < size; ++i) root_[static_cast<std::size_t>(begin + i)] = {begin, size};
      begin += size;
    }
  }

  std::optional<Region> allocate(std::int64_t slots) {
    std::int64_t wanted = 1;
    while (wanted < slots) wanted *= 2;
    for (std::int64_t size = wanted; size <= static_cast<std::int64_t>(taken_.size()); size *= 2) {
      for (std::int64_t begin = 0; begin + size <= static_cast<std::int64_t>(taken_.size()); begin += size) {
        if (!whole_free_block(begin, size)) continue;
        mark({begin, wanted}, true);
        return Region{begin, wanted};
      }
    }
    return std::nullopt;
  }
  void release(const Region& region) { mark(region, false); }

 private:
  bool in_root(std::int64_t begin, std::int64_t size) const {
    const Region& root = root_[static_cast<std::size_t>(begin)];
    return begin + size <= root.begin + root.slots;
  }
  bool all_free(std::int64_t begin, std::int64_t size) const {
    return std::none_of(taken_.begin() + begin, taken_.begin() + begin + size, [](bool taken) { return taken; });
  }
  // Free, and not part of a larger free block.
  bool whole_free_block(std::int64_t begin, std::int64_t size) const {
    if (!in_root(begin, size) || !all_free(begin, size)) return false;
    const std::int64_t parent = begin / (2 * size) * (2 * size);
    if (parent + 2 * size > static_cast<std::int64_t>(taken_.size())) return true;
    return !in_root(parent, 2 * size) || !all_free(parent, 2 * size);
  }
  void mark(const Region& region, bool taken) {
    for (std::int64_t i = 0; i < region.slots; ++i) taken_[static_cast<std::size_t>(region.begin + i)] = taken;
  }

  std::vector<bool> taken_;
  std::vector<Region> root_;  // block of the arena's binary digits that a slot lies in
};

}  // namespace

TEST_CASE("a region takes the next power of two, and halves merge again when both are free") {
  BuddyAllocator buddies(16);
  const Region a = *buddies.allocate(5);
  const Region b = *buddies.allocate(3);
  CHECK((a.begin == 0 && a.slots == 8));
  CHECK((b.begin == 8 && b.slots == 4));
  CHECK(buddies.free() == 4);
  CHECK_FALSE(buddies.fits(5));
  buddies.release(b);
  CHECK(buddies.largest_free() == 8);
  buddies.release(a);
  CHECK(buddies.largest_free() == 16);
}

TEST_CASE("an arena of 15,700 slots holds seven sequences of 2,048 and leaves 1,364 that none can use") {
  BuddyAllocator buddies(15700);
  int held = 0;
  while (buddies.allocate(2048)) ++held;
  CHECK(held == 7);
  CHECK(buddies.free() == 1364);
}

TEST_CASE("a region cannot be released twice") {
  BuddyAllocator buddies(8);
  const Region a = *buddies.allocate(8);
  buddies.release(a);
  CHECK_THROWS_AS(buddies.release(a), core::LogicError);
}

TEST_CASE("random allocations and releases equal a search over the slots") {
  core::Random random(7, "buddies");
  for (const std::int64_t slots : {1, 24, 63, 64, 100}) {
    BuddyAllocator buddies(slots);
    NaiveBuddies naive(slots);
    std::vector<Region> held;
    for (int i = 0; i < 4000; ++i) {
      if (!held.empty() && random.uniform() < 0.45) {
        const auto at = static_cast<std::size_t>(random.below(held.size()));
        buddies.release(held[at]);
        naive.release(held[at]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const auto want = 1 + static_cast<std::int64_t>(random.below(20));
        const auto got = buddies.allocate(want);
        const auto expected = naive.allocate(want);
        REQUIRE(got.has_value() == expected.has_value());
        if (!got) continue;
        REQUIRE(got->begin == expected->begin);
        REQUIRE(got->slots == expected->slots);
        held.push_back(*got);
      }
      buddies.check();
    }
  }
}
