// The rules of memory/lru_pool.hpp written down as plainly as they read: everything is searched for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

namespace servecast::test {

struct NaiveLru {
  struct Block {
    int references = 0;
    std::uint64_t key = 0;
    int depth = 0;
    bool computed = false;
    std::int64_t accessed = -1;
  };

  explicit NaiveLru(int blocks) : all(static_cast<std::size_t>(blocks)) {
    for (int i = blocks; i-- > 0;) spare.push_back(i);
  }
  Block& at(int id) { return all[static_cast<std::size_t>(id)]; }
  const Block& at(int id) const { return all[static_cast<std::size_t>(id)]; }

  std::int64_t free() const {
    std::int64_t n = 0;
    for (const Block& b : all) n += b.references == 0 ? 1 : 0;
    return n;
  }
  std::int64_t cached() const {
    std::int64_t n = 0;
    for (const Block& b : all) n += b.references == 0 && b.key != 0 ? 1 : 0;
    return n;
  }
  std::optional<int> find(std::uint64_t key) const {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (key != 0 && all[i].key == key) return static_cast<int>(i);
    return std::nullopt;
  }
  int oldest() const {
    int best = -1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Block& b = all[i];
      if (b.references > 0 || b.key == 0) continue;
      if (best < 0 || b.accessed < at(best).accessed || (b.accessed == at(best).accessed && b.depth > at(best).depth))
        best = static_cast<int>(i);
    }
    return best;
  }
  int allocate() {
    int id = -1;
    if (!spare.empty()) {
      id = spare.back();
      spare.pop_back();
    } else {
      id = oldest();
      ++evictions;
    }
    if (id < 0) throw std::logic_error("nothing is free");
    at(id) = {};
    at(id).references = 1;
    return id;
  }
  void retain(int id) {
    if (at(id).references++ == 0) at(id).accessed = -1;
  }
  void release(int id) {
    if (at(id).references <= 0) throw std::logic_error("released twice");
    if (--at(id).references > 0) return;
    if (at(id).key != 0 && at(id).computed) return;
    at(id).key = 0;
    spare.push_back(id);
  }
  // A block in hand becomes the holder of a content, or gives way to it.
  int publish(int id, std::uint64_t key, int depth) {
    if (const auto holder = find(key)) {
      release(id);
      retain(*holder);
      return *holder;
    }
    at(id).key = key;
    at(id).depth = depth;
    at(id).computed = false;
    return id;
  }

  std::vector<Block> all;
  std::vector<int> spare;
  std::int64_t evictions = 0;
};

}  // namespace servecast::test
