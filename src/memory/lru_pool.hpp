// Fixed-size KV blocks as the first generation of vLLM (v0) keeps them: reference counts, and content that outlives its
// last holder. Without content it is a stack of free blocks.
//
// One block at most holds a content: who fills a second one with it gets the first instead. Blocks without content are
// taken first; then the free one accessed longest ago gives its content up, of these the deepest in its chain, of these
// the lowest id. Holders note the instant of their access before they let go; a block that somebody took since it was
// free has none until then, which counts as longest ago. Content is there from the moment a block is meant for it, but
// of use only once computed; freed before that, it is forgotten. Invariant: a block is free exactly when nobody holds
// it. It does not know requests, tokens or bytes.
#pragma once

#include "memory/block_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace servecast::memory {

class LruPool {
 public:
  explicit LruPool(std::int64_t blocks);

  std::int64_t total() const { return total_; }
  std::int64_t free() const { return free_; }
  std::int64_t used() const { return total_ - free_; }
  std::int64_t cached() const { return cached_; }          // free blocks that hold content
  std::int64_t references() const { return references_; }  // of all blocks together
  std::int64_t evictions() const { return evictions_; }

  BlockId allocate();  // Requires: free() > 0
  void retain(BlockId block);
  void release(BlockId block);
  void release_reversed(std::span<const BlockId> blocks);
  std::int32_t references(BlockId block) const { return at(block).references; }

  // The block that holds a content, computed or not.
  std::optional<BlockId> find(ContentKey key) const;
  ContentKey key(BlockId block) const { return at(block).key; }  // 0: none
  std::int32_t depth(BlockId block) const { return at(block).depth; }
  bool computed(BlockId block) const { return at(block).computed; }
  // The block is meant for a content, the depth-th of its chain. Returns the block that holds it: this one, or the one
  // that did already, to which the reference moves. Requires: referenced once, without content.
  BlockId publish(BlockId block, ContentKey key, std::int32_t depth);
  void compute(BlockId block) { at(block).computed = true; }
  void access(BlockId block, std::int64_t instant) { at(block).accessed = instant; }
  // Walks every structure and throws LogicError where they disagree. For tests.
  void check() const;

 private:
  static constexpr std::int64_t never = -1;

  struct Block {
    ContentKey key = 0;
    std::int64_t accessed = never;
    std::int32_t references = 0;
    std::int32_t depth = 0;
    bool computed = false;
  };
  // A free block with content, as it was when it became free.
  struct Candidate {
    std::int64_t accessed;
    std::int32_t depth;
    BlockId block;
  };
  Block& at(BlockId id) { return blocks_[static_cast<std::size_t>(id)]; }
  const Block& at(BlockId id) const { return blocks_[static_cast<std::size_t>(id)]; }
  static bool later(const Candidate& a, const Candidate& b);
  bool stands(const Candidate& candidate) const;
  void let_go(BlockId id);
  void offer(BlockId id);
  BlockId evict();

  std::vector<Block> blocks_;
  std::vector<BlockId> spare_;                             // free without content; the last is taken first
  std::vector<Candidate> candidates_;                      // a heap, the first to go in front; some no longer stand
  boost::unordered_flat_map<ContentKey, BlockId> holder_;  // never iterated into results
  std::int64_t total_ = 0, free_ = 0, cached_ = 0, references_ = 0, evictions_ = 0;
};

}  // namespace servecast::memory
