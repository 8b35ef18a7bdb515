#include "workload/prefix_replay.hpp"

#include "core/error.hpp"
#include "workload/trace.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <utility>

namespace servecast::workload {

struct PrefixLru::State {
  struct Block {
    std::uint64_t id = 0;
    std::int32_t older = -1, newer = -1;
  };

  Block& at(std::int32_t block) { return blocks[static_cast<std::size_t>(block)]; }
  void unlink(std::int32_t block) {
    const Block b = at(block);
    (b.older >= 0 ? at(b.older).newer : oldest) = b.newer;
    (b.newer >= 0 ? at(b.newer).older : newest) = b.older;
  }
  void append(std::int32_t block) {
    at(block).older = newest;
    at(block).newer = -1;
    (newest >= 0 ? at(newest).newer : oldest) = block;
    newest = block;
  }
  void touch(std::uint64_t id) {
    const auto [entry, fresh] = where.try_emplace(id, static_cast<std::int32_t>(blocks.size()));
    if (fresh && !spares.empty()) {
      entry->second = spares.back();
      spares.pop_back();
      at(entry->second).id = id;
    } else if (fresh) {
      blocks.push_back({id, -1, -1});
    } else {
      unlink(entry->second);
    }
    append(entry->second);
  }
  void trim() {
    while (capacity > 0 && static_cast<std::int64_t>(where.size()) > capacity) {
      const std::int32_t block = oldest;
      where.erase(at(block).id);
      unlink(block);
      spares.push_back(block);
    }
  }

  std::int64_t capacity = 0;
  std::vector<Block> blocks;
  std::vector<std::int32_t> spares;
  std::int32_t oldest = -1, newest = -1;
  boost::unordered_flat_map<std::uint64_t, std::int32_t> where;  // never iterated
};

PrefixLru::PrefixLru(std::int64_t capacity) : state_(std::make_unique<State>()) {
  SERVECAST_ENSURE(capacity >= 0, "a cache of {} blocks", capacity);
  state_->capacity = capacity;
}
PrefixLru::~PrefixLru() = default;
PrefixLru::PrefixLru(PrefixLru&&) noexcept = default;
PrefixLru& PrefixLru::operator=(PrefixLru&&) noexcept = default;

std::int64_t PrefixLru::access(std::span<const std::uint64_t> ids) {
  std::size_t hits = 0;
  while (hits < ids.size() && state_->where.contains(ids[hits])) ++hits;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) state_->touch(*id);
  state_->trim();
  return static_cast<std::int64_t>(hits);
}

PrefixReplays replay_prefixes(const std::string& path, TraceFormat format, std::span<const std::int64_t> capacities) {
  Trace trace(path, format);
  PrefixReplays out;
  out.block_tokens = trace.block_tokens();
  if (out.block_tokens == 0)
    throw core::InputError(path,
                           "its format has no ids of shared prefixes; give a mooncake, bailian or servecast trace");
  std::vector<PrefixLru> caches;
  for (const std::int64_t capacity : capacities) {
    out.caches.push_back({capacity, 0, 0});
    caches.emplace_back(capacity);
  }
  TraceRecord record;
  while (trace.next(record)) {
    out.blocks += static_cast<std::int64_t>(record.prefix.size());
    out.tokens += record.input_tokens;
    const std::int64_t usable = (record.input_tokens - 1) / out.block_tokens;
    for (std::size_t i = 0; i < caches.size(); ++i) {
      const std::int64_t hits = caches[i].access(record.prefix);
      out.caches[i].hit_blocks += hits;
      out.caches[i].hit_tokens += std::min(hits, usable) * out.block_tokens;
    }
  }
  return out;
}

}  // namespace servecast::workload
