#include "memory/block_pool.hpp"

#include "core/error.hpp"

namespace servecast::memory {

ContentKey content_key(std::uint64_t chain, std::int64_t index) {
  // splitmix64's finaliser over both words: neighbouring indices of neighbouring chains land far apart.
  std::uint64_t z = chain * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(index) + 0x632be59bd9b4e019ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return z == 0 ? 1 : z;
}

BlockPool::BlockPool(std::int64_t blocks) {
  SERVECAST_ENSURE(blocks > 0 && blocks <= 0x7fffffff, "{} blocks", blocks);
  total_ = free_ = blocks;
}

void BlockPool::append(BlockId id) {
  Block& block = at(id);
  block.previous = tail_;
  block.next = -1;
  (tail_ >= 0 ? at(tail_).next : head_) = id;
  tail_ = id;
  ++free_;
  if (block.key != 0) ++cached_;
}

void BlockPool::unlink(BlockId id) {
  Block& block = at(id);
  (block.previous >= 0 ? at(block.previous).next : head_) = block.next;
  (block.next >= 0 ? at(block.next).previous : tail_) = block.previous;
  block.next = block.previous = -1;
  --free_;
  if (block.key != 0) --cached_;
}

void BlockPool::forget(BlockId id) {
  Block& block = at(id);
  const auto entry = oldest_.find(block.key);
  if (entry->second == id) {
    if (block.next_copy >= 0)
      entry->second = block.next_copy;
    else
      oldest_.erase(entry);
  } else {
    BlockId before = entry->second;
    while (at(before).next_copy != id) before = at(before).next_copy;
    at(before).next_copy = block.next_copy;
  }
  block.next_copy = -1;
  block.key = 0;
  ++evictions_;
}

BlockId BlockPool::allocate() {
  ++references_;
  if (static_cast<std::int64_t>(blocks_.size()) < total_) {
    blocks_.emplace_back().references = 1;
    --free_;
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  SERVECAST_ENSURE(head_ >= 0, "allocation from an empty pool of {} blocks", total());
  const BlockId id = head_;
  unlink(id);
  if (at(id).key != 0) forget(id);
  at(id).references = 1;
  return id;
}

void BlockPool::retain(BlockId id) {
  ++references_;
  if (at(id).references++ == 0) unlink(id);
}

void BlockPool::release(BlockId id) {
  SERVECAST_ENSURE(at(id).references > 0, "block {} is released twice", id);
  --references_;
  if (--at(id).references == 0) append(id);
}

void BlockPool::release_reversed(std::span<const BlockId> blocks) {
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) release(*it);
}

void BlockPool::publish(BlockId id, ContentKey key) {
  SERVECAST_ENSURE(at(id).references > 0 && at(id).key == 0, "block {} cannot publish {}", id, key);
  at(id).key = key;
  const auto [entry, fresh] = oldest_.try_emplace(key, id);
  if (fresh) return;
  BlockId last = entry->second;
  while (at(last).next_copy >= 0) last = at(last).next_copy;
  at(last).next_copy = id;
}

std::optional<BlockId> BlockPool::find(ContentKey key) const {
  const auto entry = oldest_.find(key);
  if (entry == oldest_.end()) return std::nullopt;
  return entry->second;
}

void BlockPool::check() const {
  std::int64_t listed = 0, waiting = 0, cached = 0, published = 0, copies = 0;
  for (BlockId id = head_, before = -1; id >= 0; before = id, id = at(id).next) {
    SERVECAST_ENSURE(at(id).previous == before && at(id).references == 0, "block {} is badly linked", id);
    ++listed, ++waiting;
    if (at(id).key != 0) ++cached;
  }
  for (const Block& block : blocks_) {
    if (block.references == 0) --listed;
    if (block.key != 0) ++published;
  }
  for (const auto& [key, first] : oldest_) {
    for (BlockId id = first; id >= 0; id = at(id).next_copy, ++copies) {
      SERVECAST_ENSURE(at(id).key == key, "block {} is filed under another key", id);
    }
  }
  const std::int64_t unused = total_ - static_cast<std::int64_t>(blocks_.size());
  SERVECAST_ENSURE(listed == 0 && waiting + unused == free_ && cached == cached_ && published == copies,
                   "free queue and cache disagree");
}

}  // namespace servecast::memory
