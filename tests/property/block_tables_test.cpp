// Block tables of sequences that fork, copy on write, hit, publish, follow each other and move to the host and back,
// over pools that evict, against naive ones: the same blocks in the same places, the same counts.
#include "memory/block_tables.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "support/naive_lru.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

using namespace servecast;
using test::NaiveLru;

namespace {

// A request's sequences, naively.
struct Family {
  memory::BlockTables tables;
  std::vector<std::vector<int>> naive;
  std::vector<memory::ContentKey> keys;  // of its prompt's full blocks
  std::int64_t tokens = 0;
  bool swapped = false;
};

class Forks {
 public:
  Forks(std::uint64_t seed, int blocks, int host, bool content)
      : random_(seed, "test/forks"),
        content_(content),
        gpu_(blocks),
        host_(host),
        naive_gpu_(blocks),
        naive_host_(host) {}

  void step() {
    ++instant_;
    const std::uint64_t action = random_.below(20);
    if (families_.empty() || (action < 2 && families_.size() < 8)) return start();
    const auto i = static_cast<std::size_t>(random_.below(families_.size()));
    Family& family = *families_[i];
    if (action == 2) {
      finish(family);
      families_.erase(families_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (action == 3) {
      swap(family);
    } else if (!family.swapped && family.naive.size() == 1 && action < 6) {
      fork(family);
    } else if (!family.swapped && action < 8) {
      reparent(family);
    } else if (!family.swapped) {
      append(family);
    }
  }
  void check() {
    compare(gpu_, naive_gpu_);
    compare(host_, naive_host_);
    for (const auto& family : families_) compare(*family);
  }
  void drain() {
    for (const auto& family : families_) finish(*family);
    REQUIRE(gpu_.free() == gpu_.total());
    REQUIRE(host_.free() == host_.total());
    REQUIRE(gpu_.references() + host_.references() == 0);
    gpu_.check();
    host_.check();
    evicted = gpu_.evictions() + host_.evictions();
  }
  std::int64_t copied = 0, moved = 0, hits = 0, replaced = 0, evicted = 0;

 private:
  static constexpr std::int64_t size = 4;

  memory::LruPool& pool(const Family& family) { return family.swapped ? host_ : gpu_; }
  NaiveLru& naive(const Family& family) { return family.swapped ? naive_host_ : naive_gpu_; }

  void compare(const memory::LruPool& pool, const NaiveLru& naive) {
    REQUIRE(pool.free() == naive.free());
    REQUIRE(pool.cached() == naive.cached());
    REQUIRE(pool.evictions() == naive.evictions);
  }
  void compare(const Family& family) {
    std::set<int> distinct;
    for (std::size_t s = 0; s < family.naive.size(); ++s) {
      const auto table = family.tables.table(s);
      REQUIRE(std::equal(table.begin(), table.end(), family.naive[s].begin(), family.naive[s].end()));
      distinct.insert(family.naive[s].begin(), family.naive[s].end());
    }
    REQUIRE(family.tables.distinct(pool(family)) == static_cast<std::int64_t>(distinct.size()));
    std::set<int> last;
    for (const std::vector<int>& table : family.naive) last.insert(table.back());
    REQUIRE(family.tables.distinct_last() == static_cast<std::int64_t>(last.size()));
    REQUIRE(family.tables.length() == static_cast<std::int64_t>(family.naive[0].size()));
    for (const int block : distinct) {
      REQUIRE(pool(family).references(block) == naive(family).at(block).references);
      REQUIRE(pool(family).key(block) == naive(family).at(block).key);
      REQUIRE(pool(family).computed(block) == naive(family).at(block).computed);
    }
  }

  // Prompts of few families of content, so that many hit; some begin alike and then differ.
  void start() {
    const auto blocks = 1 + static_cast<std::int64_t>(random_.below(6));
    if (gpu_.free() < blocks) return;
    auto family = std::make_unique<Family>();
    family->tokens = blocks * size - static_cast<std::int64_t>(random_.below(size));
    const std::uint64_t chain = 1 + random_.below(6);
    const auto branch = static_cast<std::int64_t>(random_.below(8));
    if (content_)
      for (std::int64_t i = 0; i < family->tokens / size; ++i)
        family->keys.push_back(memory::content_key(i < branch ? chain : 1000 + next_++, i));
    family->tables.begin(gpu_, blocks, family->keys);
    family->naive.resize(1);
    for (std::int64_t i = 0; i < blocks; ++i) {
      const bool known = i < static_cast<std::int64_t>(family->keys.size());
      const auto hit = known ? naive_gpu_.find(family->keys[static_cast<std::size_t>(i)]) : std::nullopt;
      hits += hit ? 1 : 0;
      family->naive[0].push_back(hit ? *hit : naive_gpu_.allocate());
      if (hit) naive_gpu_.retain(*hit);
      if (known && !hit)
        naive_gpu_.publish(family->naive[0].back(), family->keys[static_cast<std::size_t>(i)], static_cast<int>(i + 1));
    }
    compute(*family, static_cast<std::int64_t>(random_.below(family->keys.size() + 1)));
    families_.push_back(std::move(family));
  }

  // The first full blocks of the prompt are there.
  void compute(Family& family, std::int64_t blocks) {
    for (std::int64_t i = 0; i < blocks; ++i) {
      gpu_.compute(family.tables.table(0)[static_cast<std::size_t>(i)]);
      naive_gpu_.at(family.naive[0][static_cast<std::size_t>(i)]).computed = true;
    }
  }

  void fork(Family& family) {
    compute(family, static_cast<std::int64_t>(family.keys.size()));
    const auto sequences = 1 + static_cast<std::int32_t>(random_.below(5));
    family.tables.fork(gpu_, sequences);
    for (std::int32_t i = 1; i < sequences; ++i) {
      family.naive.push_back(family.naive[0]);
      for (const int block : family.naive[0]) naive_gpu_.retain(block);
    }
  }

  void append(Family& family) {
    if (gpu_.free() < static_cast<std::int64_t>(family.naive.size())) return;
    const std::int64_t copies = family.tables.append(gpu_, family.tokens, size);
    std::int64_t expected = 0;
    for (std::vector<int>& table : family.naive) {
      if (family.tokens % size == 0) {
        table.push_back(naive_gpu_.allocate());
      } else if (naive_gpu_.at(table.back()).references > 1) {
        const int copy = naive_gpu_.allocate();
        naive_gpu_.release(table.back());
        table.back() = copy;
        ++expected;
      }
    }
    REQUIRE(copies == expected);
    copied += copies;
    ++family.tokens;
    if (content_ && family.tokens % size == 0) fill(family);
  }

  // Every sequence's last block holds something now: a content of its own, or one that others write too.
  void fill(Family& family) {
    for (std::size_t i = 0; i < family.naive.size(); ++i) {
      const auto depth = static_cast<int>(family.naive[i].size());
      const bool common = random_.below(3) == 0 && i == 0;
      const auto key = memory::content_key(common ? 1 + random_.below(3) : 1000 + next_++, depth - 1);
      family.tables.publish_last(gpu_, i, key);
      const int before = family.naive[i].back();
      family.naive[i].back() = naive_gpu_.publish(before, key, depth);
      replaced += family.naive[i].back() != before ? 1 : 0;
      if (random_.below(4) == 0) continue;
      gpu_.compute(family.tables.table(i).back());
      naive_gpu_.at(family.naive[i].back()).computed = true;
    }
  }

  void reparent(Family& family) {
    std::vector<std::int32_t> parents;
    for (std::size_t i = 0; i < family.naive.size(); ++i)
      parents.push_back(static_cast<std::int32_t>(random_.below(3) == 0 ? random_.below(family.naive.size()) : i));
    family.tables.reparent(gpu_, parents);
    const std::vector<std::vector<int>> before = family.naive;
    for (std::size_t i = 0; i < before.size(); ++i) family.naive[i] = before[static_cast<std::size_t>(parents[i])];
    for (const std::vector<int>& table : family.naive)
      for (const int block : table) naive_gpu_.retain(block);
    for (const std::vector<int>& table : before) release(naive_gpu_, table);
  }

  void swap(Family& family) {
    memory::LruPool& from = pool(family);
    memory::LruPool& to = family.swapped ? gpu_ : host_;
    NaiveLru& naive_from = naive(family);
    NaiveLru& naive_to = family.swapped ? naive_gpu_ : naive_host_;
    const std::int64_t needed = family.tables.needed(from, to);
    if (to.free() < needed) return;
    const std::int64_t free = to.free();
    const std::int64_t blocks = family.tables.move(from, to);
    REQUIRE(free - to.free() == needed);
    std::map<int, int> there;
    const std::vector<std::vector<int>> before = family.naive;
    for (std::vector<int>& table : family.naive) {
      for (int& block : table) {
        const auto [entry, fresh] = there.try_emplace(block, -1);
        if (fresh)
          entry->second = moved_block(naive_from.at(block), naive_to);
        else
          naive_to.retain(entry->second);
        block = entry->second;
      }
    }
    for (const std::vector<int>& table : before) release(naive_from, table);
    REQUIRE(blocks == static_cast<std::int64_t>(there.size()));
    moved += blocks;
    family.swapped = !family.swapped;
  }

  static int moved_block(const NaiveLru::Block& block, NaiveLru& to) {
    const auto held = to.find(block.key);
    if (held) to.retain(*held);
    const int id = held ? *held : to.allocate();
    if (block.key != 0 && !held) to.publish(id, block.key, block.depth);
    if (block.key != 0 && block.computed) to.at(id).computed = true;
    return id;
  }

  static void release(NaiveLru& pool, const std::vector<int>& table) {
    for (auto block = table.rbegin(); block != table.rend(); ++block) pool.release(*block);
  }

  void finish(Family& family) {
    const std::int64_t accessed = instant_ - static_cast<std::int64_t>(random_.below(3));
    family.tables.release(pool(family), accessed);
    for (const std::vector<int>& table : family.naive) {
      for (const int block : table) naive(family).at(block).accessed = accessed;
      release(naive(family), table);
    }
  }

  core::Random random_;
  bool content_;
  memory::LruPool gpu_, host_;
  NaiveLru naive_gpu_, naive_host_;
  std::vector<std::unique_ptr<Family>> families_;
  std::int64_t instant_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace

TEST_CASE("block tables equal naive ones over random forks, copies, hits, contents, ancestors, swaps and evictions") {
  std::int64_t copied = 0, moved = 0, hits = 0, replaced = 0, evicted = 0;
  for (std::uint64_t seed = 0; seed < 110; ++seed) {
    Forks forks(seed, 8 + static_cast<int>(seed % 5) * 20, 40, seed % 4 != 0);
    for (int step = 0; step < 10'000; ++step) {
      forks.step();
      if (step % 10 == 0) forks.check();
    }
    forks.drain();
    copied += forks.copied;
    moved += forks.moved;
    hits += forks.hits;
    replaced += forks.replaced;
    evicted += forks.evicted;
  }
  INFO(copied << " copied, " << moved << " moved, " << hits << " hit, " << replaced << " replaced, " << evicted
              << " evicted");
  REQUIRE(copied > 10'000);
  REQUIRE(moved > 10'000);
  REQUIRE(hits > 10'000);
  REQUIRE(replaced > 100);
  REQUIRE(evicted > 10'000);
}
