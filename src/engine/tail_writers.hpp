// Decoders that write into chains of content which others may look up, by chain. What they wrote is a function of the
// step counter, so it is published only when somebody may ask. Slots are those of the constant-time engine.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <vector>

namespace servecast::engine {

class TailWriters {
 public:
  explicit TailWriters(std::int32_t slots) : next_(static_cast<std::size_t>(slots), -1) {}

  bool empty() const { return first_.empty(); }
  bool contains(std::uint64_t chain) const { return first_.contains(chain); }

  void add(std::uint64_t chain, std::int32_t slot) {
    const auto [entry, fresh] = first_.try_emplace(chain, slot);
    next_[static_cast<std::size_t>(slot)] = fresh ? -1 : entry->second;
    entry->second = slot;
  }
  // Requires: added.
  void remove(std::uint64_t chain, std::int32_t slot) {
    const auto entry = first_.find(chain);
    std::int32_t* link = &entry->second;
    while (*link != slot) link = &next_[static_cast<std::size_t>(*link)];
    *link = next_[static_cast<std::size_t>(slot)];
    if (entry->second < 0) first_.erase(entry);
  }
  // Slots that write into the chain, in no particular order; the caller's to sort, until the next call.
  std::vector<std::int32_t>& of(std::uint64_t chain) {
    found_.clear();
    const auto entry = first_.find(chain);
    if (entry == first_.end()) return found_;
    for (std::int32_t slot = entry->second; slot >= 0; slot = next_[static_cast<std::size_t>(slot)])
      found_.push_back(slot);
    return found_;
  }

 private:
  boost::unordered_flat_map<std::uint64_t, std::int32_t> first_;  // never iterated
  std::vector<std::int32_t> next_;
  std::vector<std::int32_t> found_;
};

}  // namespace servecast::engine
