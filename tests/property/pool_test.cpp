// The pools equal a naive one over a million random operations: which blocks a request gets, hits and shares, how many
// are free and hold content, and what a copy or a swap moves. Nothing is freed twice, and nothing leaks.
#include "catch.hpp"
#include "core/random.hpp"
#include "memory/block_pool.hpp"
#include "memory/run_pool.hpp"
#include "support/naive_pool.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

using namespace servecast;
using memory::RunPool;
using test::NaivePool;

namespace {

struct Held {
  memory::RunKey key;
  std::uint64_t tail = 0;
  std::uint64_t own = 0;  // chain of what follows, where there is no tail
  std::vector<int> blocks;
  std::int64_t full = 0;  // leading blocks that hold content
  RunPool::Table table = RunPool::none;
  memory::RunQueue::Owned freed;

  std::uint64_t chain(std::int64_t block) const {
    for (const memory::Run& run : key) {
      if (block < run.end) return run.chain;
    }
    return tail != 0 ? tail : own;
  }
};

// Requests that come, hit, grow, fill blocks, are preempted, come back and go, in both pools at once.
class Traffic {
 public:
  Traffic(std::uint64_t seed, int blocks) : random_(seed, "test/pools"), runs_(blocks), naive_(blocks) {}

  void step() {
    const std::uint64_t action = random_.below(12);
    if (action < 3) return start(fresh());
    if (action == 3 && !preempted_.empty()) return start(take(preempted_));
    if (held_.empty()) return;
    Held& held = held_[static_cast<std::size_t>(random_.below(held_.size()))];
    if (action < 6) return grow(held, static_cast<std::int64_t>(random_.below(3)));
    if (action < 9) return fill(held, static_cast<std::int64_t>(random_.below(held.blocks.size() + 1)));
    Held leaving = take(held_);
    if (action == 9) return preempt(std::move(leaving));
    finish(leaving);
  }
  void check(bool whole) {
    REQUIRE(runs_.free() == naive_.free());
    REQUIRE(runs_.cached() == naive_.cached());
    if (whole) runs_.check();
  }
  void drain() {
    while (!held_.empty()) finish(take(held_));
    check(true);
    REQUIRE(runs_.free() == static_cast<std::int64_t>(naive_.references.size()));
    for (Held& held : preempted_) runs_.close(held.table);
    REQUIRE(runs_.tables() == 0);
  }
  std::int64_t hits = 0, taken = 0, copies = 0, resumed = 0;

 private:
  Held take(std::vector<Held>& from) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(random_.below(from.size()));
    Held held = std::move(*at);
    from.erase(at);
    return held;
  }

  Held fresh() {
    Held held;
    std::uint64_t chain = 1 + random_.below(3);
    std::int64_t end = 0;
    for (std::uint64_t left = random_.below(4); left > 0; --left) {
      end += 1 + static_cast<std::int64_t>(random_.below(5));
      memory::append_run(held.key, chain, end);
      chain = chain * 4 + random_.below(2);
    }
    if (random_.below(3) == 0)
      held.tail =
          random_.below(2) == 0 || held.key.empty() ? chain : held.key.back().chain;  // the latter as sessions do
    held.own = 1'000'000 + next_++;
    held.table = runs_.open(held.tail);
    runs_.key(held.table) = held.key;
    return held;
  }

  void start(Held held) {
    // Who comes back asks for all of its own blocks again, as requests do.
    const std::int64_t cap = held.freed.run >= 0 ? 1000 : static_cast<std::int64_t>(random_.below(16));
    std::vector<int> hit;
    std::int64_t referenced = 0;
    while (static_cast<std::int64_t>(hit.size()) < cap) {
      const auto index = static_cast<std::int64_t>(hit.size());
      const auto block = naive_.find({held.chain(index), index});
      if (!block) break;
      hit.push_back(*block);
      if (index < runs_.shareable(held.table) && naive_.count(*block) > 0) ++referenced;
    }
    const RunPool::Found found = runs_.find(held.table, cap);
    std::int64_t own = 0;
    if (found.blocks == runs_.shareable(held.table)) own = std::min(runs_.hittable(held.freed), cap - found.blocks);
    REQUIRE(found.blocks + own == static_cast<std::int64_t>(hit.size()));
    REQUIRE(found.referenced == referenced);
    if (found.blocks > 0) runs_.retain(held.table);
    if (own > 0) runs_.hit(held.freed, own), ++resumed;
    held.freed = {};
    for (const int block : hit) naive_.retain(block);
    hits += static_cast<std::int64_t>(hit.size());
    held.full = static_cast<std::int64_t>(hit.size());
    held.blocks = std::move(hit);
    grow(held, static_cast<std::int64_t>(random_.below(8)));
    held_.push_back(std::move(held));
  }

  void grow(Held& held, std::int64_t blocks) {
    blocks = std::min(blocks, naive_.free());
    taken += blocks;
    runs_.pop(blocks);
    for (; blocks > 0; --blocks) held.blocks.push_back(naive_.allocate());
  }

  void fill(Held& held, std::int64_t to) {
    for (; held.full < to; ++held.full) {
      const NaivePool::Key key{held.chain(held.full), held.full};
      copies += naive_.find(key) ? 1 : 0;
      naive_.publish(held.blocks[static_cast<std::size_t>(held.full)], key);
    }
    runs_.publish(held.table, held.full);
  }

  void preempt(Held held) {
    naive_.release_reversed(held.blocks);
    const std::int64_t shared = runs_.published(held.table);
    held.freed = runs_.give_owned(static_cast<std::int64_t>(held.blocks.size()) - shared, held.full - shared);
    runs_.release(held.table);
    held.blocks.clear();
    held.full = 0;
    preempted_.push_back(std::move(held));
  }

  void finish(const Held& held) {
    naive_.release_reversed(held.blocks);
    const std::int64_t shared = runs_.published(held.table);
    runs_.give(static_cast<std::int64_t>(held.blocks.size()) - shared, held.full - shared);
    runs_.release(held.table);
    runs_.close(held.table);
  }

  core::Random random_;
  RunPool runs_;
  NaivePool naive_;
  std::vector<Held> held_, preempted_;
  std::uint64_t next_ = 0;
};

}  // namespace

TEST_CASE("a pool of runs equals a naive pool of blocks over random hits, growth, copies, preemptions and evictions") {
  std::int64_t hits = 0, taken = 0, copies = 0, resumed = 0;
  for (std::uint64_t seed = 0; seed < 140; ++seed) {
    Traffic traffic(seed, 4 + static_cast<int>(seed % 7) * 20);
    for (int step = 0; step < 5000; ++step) {
      traffic.step();
      traffic.check(step % 50 == 0);
    }
    traffic.drain();
    hits += traffic.hits;
    taken += traffic.taken;
    copies += traffic.copies;
    resumed += traffic.resumed;
  }
  REQUIRE(hits > 100'000);
  REQUIRE(taken > 50'000);
  REQUIRE(copies > 2'000);
  REQUIRE(resumed > 100);
}
