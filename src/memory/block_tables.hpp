// The block tables of one request's sequences over pools of blocks: forks share every block, appending to a block that
// is not full and shared copies it first, and all tables move together between a GPU's pool and the host's. Sequences
// of a request are equally long. Invariant: a block's references are the tables it is in; two tables that share block i
// share all before it. It does not know requests or time.
#pragma once

#include "memory/block_pool.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace servecast::memory {

class BlockTables {
 public:
  std::size_t sequences() const { return sequences_; }
  std::span<const BlockId> table(std::size_t sequence) const { return tables_[sequence]; }
  // Distinct blocks.
  std::int64_t distinct(const BlockPool& pool) const;
  // Distinct last blocks. Requires: begun.
  std::int64_t distinct_last() const { return distinct_last_; }

  // One sequence with `blocks` new blocks. Requires: empty, that many are free.
  void begin(BlockPool& pool, std::int64_t blocks);
  // The first sequence becomes `sequences` that share all its blocks.
  void fork(BlockPool& pool, std::int32_t sequences);
  // Room for one token more at `token` in every sequence; returns how many blocks were copied. Requires: as many free
  // blocks as sequences.
  std::int64_t append(BlockPool& pool, std::int64_t token, std::int64_t block_size) {
    const bool boundary = token % block_size == 0;
    return !boundary && all_last_distinct() ? 0 : append_blocks(pool, boundary);
  }
  // Sequence i continues what was sequence parents[i].
  void reparent(BlockPool& pool, std::span<const std::int32_t> parents);
  // Gives all blocks back, each table's last first.
  void release(BlockPool& pool);
  // Moves all blocks to another pool, shared as they were; returns how many. Requires: enough free blocks there.
  std::int64_t move(BlockPool& from, BlockPool& to);

 private:
  bool all_last_distinct() const { return distinct_last_ == static_cast<std::int64_t>(sequences_); }
  std::span<std::vector<BlockId>> live() { return {tables_.data(), sequences_}; }
  std::int64_t append_blocks(BlockPool& pool, bool boundary);
  void follow(BlockPool& pool, std::size_t sequence, std::span<const BlockId> parent);
  void count_last();

  std::vector<std::vector<BlockId>> tables_;  // of sequences, then emptied ones
  std::size_t sequences_ = 0;
  std::int64_t distinct_last_ = 0;
  std::vector<std::vector<BlockId>> before_;  // scratch
};

}  // namespace servecast::memory
