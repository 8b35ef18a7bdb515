#include "memory/block_tables.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::memory {
namespace {

// Leading blocks that two tables share.
std::size_t common(std::span<const BlockId> a, std::span<const BlockId> b) {
  std::size_t n = std::min(a.size(), b.size());
  while (n > 0 && a[n - 1] != b[n - 1]) --n;
  return n;
}

}  // namespace

std::int64_t BlockTables::distinct(const BlockPool& pool) const {
  if (sequences_ == 0) return 0;
  auto blocks = static_cast<std::int64_t>(tables_.front().size());
  for (std::size_t i = 1; i < sequences_; ++i) {
    std::size_t shared = 0;
    for (std::size_t j = 0; j < i; ++j) shared = std::max(shared, common(tables_[i], tables_[j]));
    blocks += static_cast<std::int64_t>(tables_[i].size() - shared);
  }
  SERVECAST_ENSURE(blocks <= pool.used(), "{} blocks in tables, {} in use", blocks, pool.used());
  return blocks;
}

void BlockTables::begin(BlockPool& pool, std::int64_t blocks) {
  SERVECAST_ENSURE(sequences_ == 0, "tables of {} sequences begin again", sequences_);
  sequences_ = 1;
  if (tables_.empty()) tables_.resize(1);
  for (std::int64_t i = 0; i < blocks; ++i) tables_.front().push_back(pool.allocate());
  distinct_last_ = 1;
}

void BlockTables::fork(BlockPool& pool, std::int32_t sequences) {
  SERVECAST_ENSURE(sequences_ == 1, "{} sequences fork", sequences_);
  sequences_ = static_cast<std::size_t>(sequences);
  if (tables_.size() < sequences_) tables_.resize(sequences_);
  for (std::size_t i = 1; i < sequences_; ++i) {
    tables_[i].assign(tables_.front().begin(), tables_.front().end());
    for (const BlockId block : tables_[i]) pool.retain(block);
  }
}

// Afterwards every sequence has a last block of its own.
std::int64_t BlockTables::append_blocks(BlockPool& pool, bool boundary) {
  std::int64_t copies = 0;
  for (std::vector<BlockId>& table : live()) {
    if (boundary) {
      table.push_back(pool.allocate());
    } else if (pool.references(table.back()) > 1) {
      const BlockId copy = pool.allocate();
      pool.release(table.back());
      table.back() = copy;
      ++copies;
    }
  }
  distinct_last_ = static_cast<std::int64_t>(sequences_);
  return copies;
}

// A table becomes another one's, whose blocks are held already.
void BlockTables::follow(BlockPool& pool, std::size_t sequence, std::span<const BlockId> parent) {
  std::vector<BlockId>& table = tables_[sequence];
  const std::size_t shared = common(table, parent);
  pool.release_reversed(std::span(table).subspan(shared));
  table.resize(shared);
  table.insert(table.end(), parent.begin() + static_cast<std::ptrdiff_t>(shared), parent.end());
}

void BlockTables::reparent(BlockPool& pool, std::span<const std::int32_t> parents) {
  const auto parent_of = [&](std::size_t i) { return static_cast<std::size_t>(parents[i]); };
  bool moves = false, chained = false;  // chained: somebody follows a sequence that itself moves
  for (std::size_t i = 0; i < sequences_; ++i) {
    moves |= parent_of(i) != i;
    chained |= parent_of(parent_of(i)) != parent_of(i);
  }
  if (!moves) return;
  for (std::size_t i = 0; i < sequences_; ++i) {
    if (parent_of(i) == i) continue;
    const std::vector<BlockId>& parent = tables_[parent_of(i)];
    for (std::size_t k = common(tables_[i], parent); k < parent.size(); ++k) pool.retain(parent[k]);
  }
  if (chained) before_.assign(live().begin(), live().end());
  const std::vector<std::vector<BlockId>>& from = chained ? before_ : tables_;
  for (std::size_t i = 0; i < sequences_; ++i) {
    if (parent_of(i) != i) follow(pool, i, from[parent_of(i)]);
  }
  count_last();
}

// Sequences share their last block if they share all, and then it has a reference of each.
void BlockTables::count_last() {
  distinct_last_ = 0;
  for (std::size_t i = 0; i < sequences_; ++i) {
    std::size_t j = 0;
    while (j < i && tables_[j].back() != tables_[i].back()) ++j;
    distinct_last_ += j == i ? 1 : 0;
  }
}

void BlockTables::release(BlockPool& pool) {
  for (std::vector<BlockId>& table : live()) {
    pool.release_reversed(table);
    table.clear();
  }
  sequences_ = 0;
}

std::int64_t BlockTables::move(BlockPool& from, BlockPool& to) {
  std::int64_t blocks = 0;
  before_.assign(live().begin(), live().end());
  for (std::size_t i = 0; i < sequences_; ++i) {
    std::size_t shared = 0, with = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t n = common(before_[i], before_[j]);
      if (n > shared) shared = n, with = j;
    }
    for (std::size_t k = 0; k < tables_[i].size(); ++k) {
      if (k < shared) {
        tables_[i][k] = tables_[with][k];
        to.retain(tables_[i][k]);
      } else {
        tables_[i][k] = to.allocate();
        ++blocks;
      }
    }
  }
  for (const std::vector<BlockId>& table : before_) from.release_reversed(table);
  return blocks;
}

}  // namespace servecast::memory
