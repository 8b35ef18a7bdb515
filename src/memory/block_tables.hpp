// The block tables of one request's sequences over pools of blocks: forks share every block, appending to a block that
// is not full and shared copies it first, and all tables move together between a GPU's pool and the host's. Blocks may
// hold content that other requests share. Sequences of a request are equally long. Invariant: two tables that share
// block i share all before it. It does not know requests or time.
#pragma once

#include "memory/lru_pool.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace servecast::memory {

class BlockTables {
 public:
  std::size_t sequences() const { return sequences_; }
  std::span<const BlockId> table(std::size_t sequence) const { return tables_[sequence]; }
  std::int64_t length() const { return length_; }  // blocks of each
  // Distinct blocks.
  std::int64_t distinct(const LruPool& pool) const;
  // Distinct last blocks. Requires: begun.
  std::int64_t distinct_last() const { return distinct_last_; }
  // Blocks that stop being free in `to` when the tables move there.
  std::int64_t needed(const LruPool& from, const LruPool& to) const;

  // One sequence of `blocks` blocks, the first of which are meant for the contents `keys`: those that the pool holds
  // are taken from there, the others are new. Requires: empty, that many are free.
  void begin(LruPool& pool, std::int64_t blocks, std::span<const ContentKey> keys);
  // The first sequence becomes `sequences` that share all its blocks.
  void fork(LruPool& pool, std::int32_t sequences);
  // Room for one token more at `token` in every sequence; returns how many blocks were copied. Requires: as many free
  // blocks as sequences.
  std::int64_t append(LruPool& pool, std::int64_t token, std::int64_t block_size) {
    const bool boundary = token % block_size == 0;
    return !boundary && all_last_distinct() ? 0 : append_blocks(pool, boundary);
  }
  // The last block of a sequence, which no other shares, is meant for this content.
  void publish_last(LruPool& pool, std::size_t sequence, ContentKey key);
  // Sequence i continues what was sequence parents[i].
  void reparent(LruPool& pool, std::span<const std::int32_t> parents);
  // Gives all blocks back, each table's last first; they were accessed at `instant`.
  void release(LruPool& pool, std::int64_t instant);
  // Moves all blocks to another pool, shared as they were, content with them; returns how many. Requires: needed()
  // blocks are free there.
  std::int64_t move(LruPool& from, LruPool& to);

 private:
  bool all_last_distinct() const { return distinct_last_ == static_cast<std::int64_t>(sequences_); }
  std::span<std::vector<BlockId>> live() { return {tables_.data(), sequences_}; }
  std::size_t shared_before(std::size_t sequence, std::size_t& with) const;
  std::int64_t append_blocks(LruPool& pool, bool boundary);
  void follow(LruPool& pool, std::size_t sequence, std::span<const BlockId> parent);
  void count_last();

  std::vector<std::vector<BlockId>> tables_;  // of sequences, then emptied ones
  std::size_t sequences_ = 0;
  std::int64_t length_ = 0;
  std::int64_t distinct_last_ = 0;
  std::vector<std::vector<BlockId>> before_;  // scratch
};

}  // namespace servecast::memory
