// Fixed-size KV blocks of one rank: reference counts, the free queue, and the content cache over it.
//
// Free queue: least recently freed first. Allocation pops the head and only then evicts what the block held, so a freed
// block can still be hit. A request's blocks are freed in reverse, so a chain loses its tail before its head.
// Content is a 64-bit key that stands for a block's tokens and everything before them; equal content computed twice
// gives two blocks under one key, and the oldest copy answers. Keys collide with probability below 1e-5 at 1e7 blocks.
// Blocks that nobody used yet stand before all freed ones in the queue; they come into being when they are first
// needed. Invariants: a block is in the free queue exactly when its reference count is 0; free + referenced = total. It
// does not know requests, tokens or bytes.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace servecast::memory {

using BlockId = std::int32_t;
using ContentKey = std::uint64_t;  // never 0

// Key of block `index` of a content chain.
ContentKey content_key(std::uint64_t chain, std::int64_t index);

class BlockPool {
 public:
  explicit BlockPool(std::int64_t blocks);

  std::int64_t total() const { return total_; }
  std::int64_t free() const { return free_; }
  std::int64_t used() const { return total() - free_; }
  std::int64_t cached() const { return cached_; }  // free blocks that still hold content
  std::int64_t evictions() const { return evictions_; }
  std::int64_t references() const { return references_; }  // of all blocks together

  BlockId allocate();           // Requires: free() > 0
  void retain(BlockId block);   // one more reference; leaves the free queue if it was there
  void release(BlockId block);  // one reference less; the last one appends it to the free queue
  void release_reversed(std::span<const BlockId> blocks);
  void publish(BlockId block, ContentKey key);  // the block now holds this content. Requires: referenced, unpublished
  std::optional<BlockId> find(ContentKey key) const;
  std::int32_t references(BlockId block) const { return blocks_[static_cast<std::size_t>(block)].references; }
  // Walks every structure and throws LogicError where they disagree. For tests.
  void check() const;

 private:
  struct Block {
    ContentKey key = 0;
    std::int32_t references = 0;
    BlockId next = -1, previous = -1;  // free queue
    BlockId next_copy = -1;            // younger block with the same key
  };
  Block& at(BlockId id) { return blocks_[static_cast<std::size_t>(id)]; }
  const Block& at(BlockId id) const { return blocks_[static_cast<std::size_t>(id)]; }
  void unlink(BlockId id);
  void append(BlockId id);
  void forget(BlockId id);

  std::vector<Block> blocks_;  // used at least once
  std::int64_t total_ = 0;
  boost::unordered_flat_map<ContentKey, BlockId> oldest_;  // key -> oldest copy; never iterated
  BlockId head_ = -1, tail_ = -1;
  std::int64_t free_ = 0, cached_ = 0, evictions_ = 0, references_ = 0;
};

}  // namespace servecast::memory
