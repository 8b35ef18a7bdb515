#include "memory/block_tables.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::memory {
namespace {

// Leading blocks that two tables share.
std::size_t common(const std::vector<BlockId>& a, const std::vector<BlockId>& b) {
  std::size_t n = std::min(a.size(), b.size());
  while (n > 0 && a[n - 1] != b[n - 1]) --n;
  return n;
}

}  // namespace

std::int64_t BlockTables::distinct(const BlockPool& pool) const {
  if (tables_.empty()) return 0;
  auto blocks = static_cast<std::int64_t>(tables_.front().size());
  for (std::size_t i = 1; i < tables_.size(); ++i) {
    std::size_t shared = 0;
    for (std::size_t j = 0; j < i; ++j) shared = std::max(shared, common(tables_[i], tables_[j]));
    blocks += static_cast<std::int64_t>(tables_[i].size() - shared);
  }
  SERVECAST_ENSURE(blocks <= pool.used(), "{} blocks in tables, {} in use", blocks, pool.used());
  return blocks;
}

std::int64_t BlockTables::distinct_last() const {
  std::int64_t distinct = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const auto same = [&](const auto& table) { return table.back() == tables_[i].back(); };
    const auto here = tables_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find_if(tables_.begin(), here, same) == here) ++distinct;
  }
  return distinct;
}

void BlockTables::begin(BlockPool& pool, std::int64_t blocks) {
  SERVECAST_ENSURE(tables_.empty(), "tables of {} sequences begin again", tables_.size());
  tables_.resize(1);
  for (std::int64_t i = 0; i < blocks; ++i) tables_.front().push_back(pool.allocate());
}

void BlockTables::fork(BlockPool& pool, std::int32_t sequences) {
  SERVECAST_ENSURE(tables_.size() == 1, "{} sequences fork", tables_.size());
  tables_.resize(static_cast<std::size_t>(sequences), tables_.front());
  for (std::size_t i = 1; i < tables_.size(); ++i) {
    for (const BlockId block : tables_[i]) pool.retain(block);
  }
}

std::int64_t BlockTables::append(BlockPool& pool, std::int64_t token, std::int64_t block_size) {
  std::int64_t copies = 0;
  const bool boundary = token % block_size == 0;
  for (std::vector<BlockId>& table : tables_) {
    if (boundary) {
      table.push_back(pool.allocate());
    } else if (pool.references(table.back()) > 1) {
      const BlockId copy = pool.allocate();
      pool.release(table.back());
      table.back() = copy;
      ++copies;
    }
  }
  return copies;
}

void BlockTables::reparent(BlockPool& pool, std::span<const std::int32_t> parents) {
  bool moves = false;
  for (std::size_t i = 0; i < tables_.size(); ++i) moves |= static_cast<std::size_t>(parents[i]) != i;
  if (!moves) return;
  before_.resize(tables_.size());
  for (std::size_t i = 0; i < tables_.size(); ++i) before_[i].assign(tables_[i].begin(), tables_[i].end());
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const auto parent = static_cast<std::size_t>(parents[i]);
    if (parent == i) continue;
    for (std::size_t k = common(before_[i], before_[parent]); k < before_[parent].size(); ++k)
      pool.retain(before_[parent][k]);
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const auto parent = static_cast<std::size_t>(parents[i]);
    if (parent == i) continue;
    const std::size_t shared = common(before_[i], before_[parent]);
    pool.release_reversed(std::span(before_[i]).subspan(shared));
    tables_[i].assign(before_[parent].begin(), before_[parent].end());
  }
}

void BlockTables::release(BlockPool& pool) {
  for (const std::vector<BlockId>& table : tables_) pool.release_reversed(table);
  tables_.clear();
}

std::int64_t BlockTables::move(BlockPool& from, BlockPool& to) {
  std::int64_t blocks = 0;
  before_ = tables_;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
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
