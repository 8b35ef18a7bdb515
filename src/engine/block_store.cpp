#include "engine/block_store.hpp"

#include "engine/content_chain.hpp"

namespace servecast::engine {

BlockStore::BlockStore(std::span<const KvKind> kinds, std::int64_t pages)
    : kinds_(kinds.begin(), kinds.end()), pool_(pages) {
  std::int32_t groups = 0;
  for (const KvKind& k : kinds_) {
    first_group_.push_back(groups);
    groups += k.groups;
  }
}

bool BlockStore::holds(const SequenceState& s, const PageTable&, std::size_t kind, std::int32_t page) const {
  for (std::int32_t g = first_group(kind); g < end_group(kind); ++g)
    if (!pool_.find(key_in_group(s.request, page, kinds_[kind].block_size, g))) return false;
  return true;
}

std::int64_t BlockStore::plan(const SequenceState& s, const PageTable&, std::size_t kind, std::int32_t lo,
                              std::int32_t hi) {
  std::int64_t unreferenced = 0;
  for (std::int32_t g = first_group(kind); g < end_group(kind); ++g) {
    for (std::int32_t page = lo; page < hi; ++page) {
      const auto block = pool_.find(key_in_group(s.request, page, kinds_[kind].block_size, g));
      planned_.push_back({g, page, *block});
      if (pool_.references(*block) == 0) ++unreferenced;
    }
  }
  return unreferenced;
}

void BlockStore::place(PageTable& t, std::int32_t group, std::int32_t page, memory::BlockId block) {
  const auto g = static_cast<std::size_t>(group);
  const auto index = static_cast<std::size_t>(page);
  if (t.ids.size() <= g) t.ids.resize(g + 1);
  if (t.ids[g].size() <= index) t.ids[g].resize(index + 1, -1);
  t.ids[g][index] = block;
}

void BlockStore::take_planned(PageTable& t) {
  for (const Planned& p : planned_) {
    pool_.retain(p.block);
    place(t, p.group, p.page, p.block);
  }
  planned_.clear();
}

void BlockStore::append(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) {
  for (std::int32_t g = first_group(kind); g < end_group(kind); ++g)
    for (std::int32_t page = lo; page < hi; ++page) place(t, g, page, pool_.allocate());
}

void BlockStore::publish(const SequenceState& s, PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) {
  for (std::int32_t g = first_group(kind); g < end_group(kind); ++g) {
    const std::vector<memory::BlockId>& ids = t.ids[static_cast<std::size_t>(g)];
    for (std::int32_t page = lo; page < hi; ++page)
      pool_.publish(ids[static_cast<std::size_t>(page)], key_in_group(s.request, page, kinds_[kind].block_size, g));
  }
}

void BlockStore::give(std::vector<memory::BlockId>& ids, std::int32_t page) {
  memory::BlockId& block = ids[static_cast<std::size_t>(page)];
  pool_.release(block);
  block = -1;
}

void BlockStore::drop(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older) {
  for (std::int32_t g = first_group(kind); g < end_group(kind); ++g) {
    std::vector<memory::BlockId>& ids = t.ids[static_cast<std::size_t>(g)];
    for (std::int32_t page = hi; page-- > lo;) give(ids, page);
    if (older >= 0) give(ids, older);
  }
}

}  // namespace servecast::engine
