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

// A block of `to` in the place of one of `from`: with its content, where it holds one.
BlockId moved(const LruPool& from, BlockId block, LruPool& to) {
  const ContentKey key = from.key(block);
  const auto there = key != 0 ? to.find(key) : std::nullopt;
  if (there) {
    to.retain(*there);
    if (from.computed(block)) to.compute(*there);
    return *there;
  }
  const BlockId copy = to.allocate();
  if (key == 0) return copy;
  to.publish(copy, key, from.depth(block));
  if (from.computed(block)) to.compute(copy);
  return copy;
}

}  // namespace

// Leading blocks that the sequence shares with one before it, and which.
std::size_t BlockTables::shared_before(std::size_t sequence, std::size_t& with) const {
  std::size_t most = 0;
  for (std::size_t j = 0; j < sequence; ++j) {
    const std::size_t n = common(tables_[sequence], tables_[j]);
    if (n > most) most = n, with = j;
  }
  return most;
}

std::int64_t BlockTables::distinct(const LruPool& pool) const {
  std::int64_t blocks = 0;
  std::size_t with = 0;
  for (std::size_t i = 0; i < sequences_; ++i)
    blocks += static_cast<std::int64_t>(tables_[i].size() - shared_before(i, with));
  SERVECAST_ENSURE(blocks <= pool.used(), "{} blocks in tables, {} in use", blocks, pool.used());
  return blocks;
}

std::int64_t BlockTables::needed(const LruPool& from, const LruPool& to) const {
  std::int64_t blocks = 0;
  std::size_t with = 0;
  for (std::size_t i = 0; i < sequences_; ++i) {
    for (std::size_t k = shared_before(i, with); k < tables_[i].size(); ++k) {
      const ContentKey key = from.key(tables_[i][k]);
      const auto there = key != 0 ? to.find(key) : std::nullopt;
      if (!there || to.references(*there) == 0) ++blocks;
    }
  }
  return blocks;
}

void BlockTables::begin(LruPool& pool, std::int64_t blocks, std::span<const ContentKey> keys) {
  SERVECAST_ENSURE(sequences_ == 0, "tables of {} sequences begin again", sequences_);
  sequences_ = 1;
  if (tables_.empty()) tables_.resize(1);
  std::vector<BlockId>& table = tables_.front();
  for (std::int64_t i = 0; i < blocks; ++i) {
    const bool known = i < static_cast<std::int64_t>(keys.size());
    const ContentKey key = known ? keys[static_cast<std::size_t>(i)] : 0;
    const auto there = known ? pool.find(key) : std::nullopt;
    table.push_back(there ? *there : pool.allocate());
    if (there) pool.retain(*there);
    if (known && !there) pool.publish(table.back(), key, static_cast<std::int32_t>(i + 1));
  }
  length_ = blocks;
  distinct_last_ = 1;
}

void BlockTables::fork(LruPool& pool, std::int32_t sequences) {
  SERVECAST_ENSURE(sequences_ == 1, "{} sequences fork", sequences_);
  sequences_ = static_cast<std::size_t>(sequences);
  if (tables_.size() < sequences_) tables_.resize(sequences_);
  for (std::size_t i = 1; i < sequences_; ++i) {
    tables_[i].assign(tables_.front().begin(), tables_.front().end());
    for (const BlockId block : tables_[i]) pool.retain(block);
  }
}

void BlockTables::publish_last(LruPool& pool, std::size_t sequence, ContentKey key) {
  std::vector<BlockId>& table = tables_[sequence];
  table.back() = pool.publish(table.back(), key, static_cast<std::int32_t>(table.size()));
}

// Afterwards every sequence has a last block of its own.
std::int64_t BlockTables::append_blocks(LruPool& pool, bool boundary) {
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
  length_ += boundary ? 1 : 0;
  distinct_last_ = static_cast<std::int64_t>(sequences_);
  return copies;
}

// A table becomes another one's, whose blocks are held already.
void BlockTables::follow(LruPool& pool, std::size_t sequence, std::span<const BlockId> parent) {
  std::vector<BlockId>& table = tables_[sequence];
  const std::size_t shared = common(table, parent);
  pool.release_reversed(std::span(table).subspan(shared));
  table.resize(shared);
  table.insert(table.end(), parent.begin() + static_cast<std::ptrdiff_t>(shared), parent.end());
}

void BlockTables::reparent(LruPool& pool, std::span<const std::int32_t> parents) {
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

void BlockTables::release(LruPool& pool, std::int64_t instant) {
  for (std::vector<BlockId>& table : live()) {
    for (const BlockId block : table) pool.access(block, instant);
    pool.release_reversed(table);
    table.clear();
  }
  sequences_ = 0;
  length_ = 0;
}

std::int64_t BlockTables::move(LruPool& from, LruPool& to) {
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
        tables_[i][k] = moved(from, before_[i][k], to);
        ++blocks;
      }
    }
  }
  for (const std::vector<BlockId>& table : before_) from.release_reversed(table);
  return blocks;
}

}  // namespace servecast::memory
