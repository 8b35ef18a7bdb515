#include "memory/block_pool.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <vector>

using namespace servecast;
using memory::BlockId;
using memory::BlockPool;
using memory::content_key;

TEST_CASE("a new pool hands out its blocks in order of id") {
  BlockPool pool(3);
  CHECK(pool.allocate() == 0);
  CHECK(pool.allocate() == 1);
  CHECK(pool.allocate() == 2);
  CHECK(pool.free() == 0);
  CHECK_THROWS_AS(pool.allocate(), core::LogicError);
}

TEST_CASE("the tail of a freed chain is reused before its head") {
  BlockPool pool(4);
  std::vector<BlockId> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(pool.allocate());
    pool.publish(blocks.back(), content_key(1, i));
  }
  pool.release_reversed(blocks);
  CHECK(pool.cached() == 4);
  CHECK(pool.allocate() == blocks[3]);
  CHECK(pool.allocate() == blocks[2]);
  CHECK(pool.evictions() == 2);
  CHECK(pool.find(content_key(1, 1)).has_value());
  CHECK_FALSE(pool.find(content_key(1, 2)).has_value());
}

TEST_CASE("a freed block keeps its content until it is reused, and a hit takes it out of the free queue") {
  BlockPool pool(2);
  const BlockId block = pool.allocate();
  pool.publish(block, content_key(9, 0));
  pool.release(block);
  REQUIRE(pool.find(content_key(9, 0)) == block);
  pool.retain(block);
  CHECK(pool.free() == 1);
  CHECK(pool.allocate() != block);
  CHECK(pool.free() == 0);
}

TEST_CASE("of two copies of one content the oldest answers, and the younger one after it is gone") {
  BlockPool pool(3);
  const BlockId first = pool.allocate();
  const BlockId second = pool.allocate();
  pool.publish(first, content_key(5, 0));
  pool.publish(second, content_key(5, 0));
  CHECK(pool.find(content_key(5, 0)) == first);
  pool.release(first);
  pool.allocate();                  // the never-used third block goes first
  CHECK(pool.allocate() == first);  // evicts the oldest copy
  CHECK(pool.find(content_key(5, 0)) == second);
}

TEST_CASE("releasing a block twice is refused") {
  BlockPool pool(1);
  const BlockId block = pool.allocate();
  pool.release(block);
  CHECK_THROWS_AS(pool.release(block), core::LogicError);
}

namespace {

// The same rules written down as lists and maps.
struct NaivePool {
  std::list<BlockId> queue;
  std::map<BlockId, int> references;
  std::map<BlockId, std::uint64_t> key;
  std::vector<std::pair<std::uint64_t, BlockId>> published;  // oldest first

  explicit NaivePool(int n) {
    for (int i = 0; i < n; ++i) queue.push_back(i);
  }
  BlockId allocate() {
    const BlockId id = queue.front();
    queue.pop_front();
    if (key.count(id) > 0) {
      published.erase(std::find(published.begin(), published.end(), std::pair{key[id], id}));
      key.erase(id);
    }
    references[id] = 1;
    return id;
  }
  void release(BlockId id) {
    if (--references[id] == 0) queue.push_back(id);
  }
  void retain(BlockId id) {
    if (references[id]++ == 0) queue.remove(id);
  }
  std::optional<BlockId> find(std::uint64_t k) const {
    for (const auto& [stored, id] : published) {
      if (stored == k) return id;
    }
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE("the pool equals a naive one over random allocations, hits, publications and releases") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    core::Random random(seed, "test/block-pool");
    const int n = 1 + static_cast<int>(random.below(40));
    BlockPool pool(n);
    NaivePool naive(n);
    std::vector<BlockId> held;
    for (int step = 0; step < 5000; ++step) {
      const std::uint64_t action = random.below(10);
      if (action < 4 && pool.free() > 0) {
        const BlockId id = pool.allocate();
        REQUIRE(id == naive.allocate());
        held.push_back(id);
        if (random.below(3) != 0) {
          const auto k = content_key(random.below(3), static_cast<std::int64_t>(random.below(12)));
          pool.publish(id, k);
          naive.key[id] = k;
          naive.published.emplace_back(k, id);
        }
      } else if (action < 6) {
        const auto k = content_key(random.below(3), static_cast<std::int64_t>(random.below(12)));
        const auto found = pool.find(k);
        REQUIRE(found == naive.find(k));
        if (found) {
          pool.retain(*found);
          naive.retain(*found);
          held.push_back(*found);
        }
      } else if (!held.empty()) {
        const std::size_t i = static_cast<std::size_t>(random.below(held.size()));
        pool.release(held[i]);
        naive.release(held[i]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      }
      REQUIRE(pool.free() == static_cast<std::int64_t>(naive.queue.size()));
    }
    pool.check();
  }
}
