// A pool of blocks as maps and vectors: the rules of memory/block_pool.hpp written down as plainly as they read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace servecast::test {

struct NaivePool {
  using Key = std::pair<std::uint64_t, std::int64_t>;  // chain, index

  explicit NaivePool(int blocks) : references(static_cast<std::size_t>(blocks), 0) {
    for (int i = 0; i < blocks; ++i) queue.push_back(i);
  }

  std::int64_t free() const { return static_cast<std::int64_t>(queue.size()); }
  std::int64_t cached() const {
    return std::count_if(queue.begin(), queue.end(), [this](int id) { return key.count(id) > 0; });
  }
  int& count(int id) { return references[static_cast<std::size_t>(id)]; }

  int allocate() {
    const int id = queue.front();
    queue.pop_front();
    if (const auto held = key.find(id); held != key.end()) {
      std::vector<int>& copies = holders[held->second];
      copies.erase(std::find(copies.begin(), copies.end(), id));
      key.erase(held);
    }
    count(id) = 1;
    return id;
  }
  void retain(int id) {
    if (count(id)++ == 0) queue.erase(std::find(queue.begin(), queue.end(), id));
  }
  void release(int id) {
    if (count(id) <= 0) throw std::logic_error("released twice");
    if (--count(id) == 0) queue.push_back(id);
  }
  void release_reversed(const std::vector<int>& blocks) {
    for (auto id = blocks.rbegin(); id != blocks.rend(); ++id) release(*id);
  }
  void publish(int id, const Key& k) {
    key[id] = k;
    holders[k].push_back(id);
  }
  std::optional<int> find(const Key& k) const {
    const auto found = holders.find(k);
    if (found == holders.end() || found->second.empty()) return std::nullopt;
    return found->second.front();
  }

  std::deque<int> queue;  // head first
  std::vector<int> references;
  std::map<int, Key> key;
  std::map<Key, std::vector<int>> holders;  // oldest first
};

}  // namespace servecast::test
