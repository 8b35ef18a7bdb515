#include "memory/lru_pool.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::memory {
namespace {

constexpr std::size_t most_stale = 4;  // candidates per free block with content before the heap is rebuilt

}  // namespace

LruPool::LruPool(std::int64_t blocks) : total_(blocks), free_(blocks) {
  SERVECAST_ENSURE(blocks > 0 && blocks <= 0x7fffffff, "{} blocks", blocks);
}

// The heap's front is the one that no other is later than.
bool LruPool::later(const Candidate& a, const Candidate& b) {
  if (a.accessed != b.accessed) return a.accessed > b.accessed;
  if (a.depth != b.depth) return a.depth < b.depth;
  return a.block > b.block;
}

// Whether a candidate is still free and was not taken in between.
bool LruPool::stands(const Candidate& c) const {
  const Block& block = at(c.block);
  return block.references == 0 && block.key != 0 && block.accessed == c.accessed && block.depth == c.depth;
}

void LruPool::offer(BlockId id) {
  ++cached_;
  candidates_.push_back({at(id).accessed, at(id).depth, id});
  std::push_heap(candidates_.begin(), candidates_.end(), later);
  if (candidates_.size() < most_stale * static_cast<std::size_t>(cached_) + 64) return;
  std::erase_if(candidates_, [this](const Candidate& c) { return !stands(c); });
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) { return later(b, a); });
  const auto same = [](const Candidate& a, const Candidate& b) { return a.block == b.block; };
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end(), same), candidates_.end());
}

BlockId LruPool::evict() {
  for (;;) {
    SERVECAST_ENSURE(!candidates_.empty(), "allocation from a full pool of {} blocks", total_);
    std::pop_heap(candidates_.begin(), candidates_.end(), later);
    const Candidate candidate = candidates_.back();
    candidates_.pop_back();
    if (!stands(candidate)) continue;
    holder_.erase(at(candidate.block).key);
    --cached_;
    ++evictions_;
    return candidate.block;
  }
}

BlockId LruPool::allocate() {
  BlockId id = 0;
  if (!spare_.empty()) {
    id = spare_.back();
    spare_.pop_back();
  } else if (static_cast<std::int64_t>(blocks_.size()) < total_) {
    id = static_cast<BlockId>(blocks_.size());
    blocks_.emplace_back();
  } else {
    id = evict();
  }
  at(id) = {};
  at(id).references = 1;
  ++references_;
  --free_;
  return id;
}

void LruPool::retain(BlockId id) {
  Block& block = at(id);
  ++references_;
  if (block.references++ > 0) return;
  SERVECAST_ENSURE(block.key != 0, "block {} is free and holds nothing", id);
  block.accessed = never;
  --cached_;
  --free_;
}

void LruPool::release(BlockId id) {
  Block& block = at(id);
  SERVECAST_ENSURE(block.references > 0, "block {} is released twice", id);
  --references_;
  if (--block.references > 0) return;
  ++free_;
  if (block.key != 0 && block.computed) return offer(id);
  if (block.key != 0) holder_.erase(block.key);
  block.key = 0;
  spare_.push_back(id);
}

void LruPool::release_reversed(std::span<const BlockId> blocks) {
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) release(*it);
}

std::optional<BlockId> LruPool::find(ContentKey key) const {
  const auto entry = holder_.find(key);
  if (entry == holder_.end()) return std::nullopt;
  return entry->second;
}

BlockId LruPool::publish(BlockId id, ContentKey key, std::int32_t depth) {
  SERVECAST_ENSURE(at(id).references == 1 && at(id).key == 0, "block {} cannot publish {}", id, key);
  const auto [entry, fresh] = holder_.try_emplace(key, id);
  if (!fresh) {
    const BlockId holder = entry->second;
    release(id);
    retain(holder);
    return holder;
  }
  at(id).key = key;
  at(id).depth = depth;
  at(id).computed = false;
  return id;
}

void LruPool::check() const {
  std::int64_t unheld = 0, cached = 0, references = 0, published = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    references += block.references;
    published += block.key != 0 ? 1 : 0;
    if (block.references > 0) continue;
    ++unheld;
    if (block.key == 0) continue;
    ++cached;
    SERVECAST_ENSURE(find(block.key) == static_cast<BlockId>(i), "block {} is filed under another content", i);
  }
  const std::int64_t unused = total_ - static_cast<std::int64_t>(blocks_.size());
  SERVECAST_ENSURE(unheld + unused == free_ && cached == cached_ && references == references_ &&
                       published == static_cast<std::int64_t>(holder_.size()) &&
                       unheld - cached == static_cast<std::int64_t>(spare_.size()),
                   "free blocks and content disagree");
}

}  // namespace servecast::memory
