// Hand-worked trees: what is matched, where nodes split, which leaves go first.
#include "catch.hpp"
#include "memory/radix_pool.hpp"

using namespace servecast::memory;

namespace {

RunKey key(std::initializer_list<Run> runs) {
  RunKey out;
  for (const Run& run : runs) append_run(out, run.chain, run.end);
  return out;
}

}  // namespace

TEST_CASE("runs of one chain merge and empty runs vanish") {
  CHECK(key({{1, 4}, {1, 9}, {2, 9}, {3, 12}}) == RunKey{{1, 9}, {3, 12}});
}

TEST_CASE("a string that leaves a node half way splits it") {
  RadixCache tree;
  CHECK(tree.insert(key({{1, 10}, {2, 20}})).pages == 0);
  // Common: pages 0 to 10 of chain 1 and nothing of chain 3.
  const auto other = tree.insert(key({{1, 10}, {3, 14}}));
  CHECK(other.pages == 10);
  CHECK(tree.pages() == 24);
  CHECK(tree.match(key({{1, 4}})).pages == 4);  // splits inside chain 1
  CHECK(tree.match(key({{1, 10}, {2, 30}})).pages == 20);
  CHECK(tree.match(key({{4, 3}})).pages == 0);
  CHECK(tree.pages() == 24);
  tree.check();
}

TEST_CASE("whole leaves are evicted, least recently used first, and then what they leave bare") {
  RadixCache tree;
  tree.insert(key({{1, 10}, {2, 20}}));  // leaf of 10 pages below a trunk of 10, once the next line splits it
  tree.insert(key({{1, 10}, {3, 14}}));  // leaf of 4
  tree.insert(key({{5, 6}}));            // leaf of 6
  tree.match(key({{1, 10}, {2, 20}}));   // renews trunk and first leaf
  CHECK(tree.evict(1) == 4);
  CHECK(tree.match(key({{1, 10}, {3, 14}})).pages == 10);
  CHECK(tree.evict(7) == 6 + 10);  // the leaf of chain 5, then of chain 2; the trunk was used last
  CHECK(tree.match(key({{1, 10}, {2, 20}})).pages == 10);
  CHECK(tree.evict(100) == 10);
  CHECK(tree.pages() == 0);
  tree.check();
}

TEST_CASE("a locked node and its ancestors stay, and a split keeps the lock") {
  RadixCache tree;
  const auto held = tree.insert(key({{1, 10}}));
  tree.lock(held.node);
  CHECK(tree.evictable() == 0);
  const auto below = tree.insert(key({{1, 10}, {2, 15}}));
  CHECK(tree.evictable() == 5);
  CHECK(tree.match(key({{1, 4}})).pages == 4);  // cuts the locked node
  CHECK(tree.evict(100) == 5);
  CHECK(tree.pages() == 10);
  tree.unlock(held.node);
  CHECK(tree.evictable() == 10);
  CHECK(tree.evict(100) == 10);
  CHECK(below.pages == 10);
  tree.check();
}

TEST_CASE("a pool gives duplicates back when a request hands its pages over") {
  RadixPool pool(30);
  REQUIRE(pool.reserve(20));
  pool.take(10);
  pool.take(10);
  pool.adopt(key({{1, 10}}), 0);
  pool.adopt(key({{1, 10}}), 0);  // the same content: its ten pages are free at once
  CHECK(pool.available() == 20);
  CHECK(pool.obtainable() == 30);
  CHECK(pool.reserve(25));  // evicts
  CHECK(pool.cache().pages() == 0);
}
