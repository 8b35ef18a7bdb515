#include "engine/count_store.hpp"

#include <algorithm>

namespace servecast::engine {

bool CountStore::kept(std::int64_t serial) const {
  if (serial <= taken_) return false;
  auto hole = holes_.upper_bound(serial);
  return hole == holes_.begin() || (--hole)->second <= serial;
}

std::int64_t CountStore::find(const PageTable& t, std::size_t kind, std::int32_t group, std::int32_t page) const {
  for (const GivenPages& g : t.given) {
    if (g.kind != static_cast<std::int32_t>(kind) || page < g.lo || page >= std::min(g.hi, g.full)) continue;
    const std::int64_t serial = g.serial + std::int64_t{group} * g.stride + (g.hi - 1 - page);
    if (kept(serial)) return serial;
  }
  return 0;
}

bool CountStore::holds(const SequenceState&, const PageTable& t, std::size_t kind, std::int32_t page) const {
  if (t.given.empty()) return false;
  for (std::int32_t g = 0; g < kinds_[kind].groups; ++g)
    if (find(t, kind, g, page) == 0) return false;
  return true;
}

std::int64_t CountStore::plan(const SequenceState&, const PageTable& t, std::size_t kind, std::int32_t lo,
                              std::int32_t hi) {
  for (std::int32_t g = 0; g < kinds_[kind].groups; ++g)
    for (std::int32_t page = lo; page < hi; ++page) planned_.push_back(find(t, kind, g, page));
  return std::int64_t{kinds_[kind].groups} * (hi - lo);
}

void CountStore::take_planned(PageTable&) {
  for (const std::int64_t serial : planned_) {
    const auto after = holes_.find(serial + 1);
    const std::int64_t end = after == holes_.end() ? serial + 1 : after->second;
    if (after != holes_.end()) holes_.erase(after);
    auto before = holes_.lower_bound(serial);
    if (before != holes_.begin() && (--before)->second == serial)
      before->second = end;
    else
      holes_.emplace(serial, end);
  }
  free_ -= static_cast<std::int64_t>(planned_.size());
  planned_.clear();
}

void CountStore::append(PageTable&, std::size_t kind, std::int32_t lo, std::int32_t hi) {
  std::int64_t pages = std::int64_t{kinds_[kind].groups} * (hi - lo);
  free_ -= pages;
  while (!holes_.empty() && holes_.begin()->first <= taken_ + pages) {
    const auto [first, end] = *holes_.begin();
    pages -= first - 1 - taken_;
    taken_ = end - 1;
    holes_.erase(holes_.begin());
  }
  taken_ += pages;
}

void CountStore::drop(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older) {
  const std::int32_t stride = hi - lo + (older >= 0 ? 1 : 0);
  const std::int64_t pages = std::int64_t{kinds_[kind].groups} * stride;
  if (caching_ && !t.retired) {
    const auto of = static_cast<std::int32_t>(kind);
    const std::int32_t full = t.kinds[kind].published;
    if (lo < hi) t.given.push_back({of, lo, hi, full, given_ + 1, stride});
    if (older >= 0) t.given.push_back({of, older, older + 1, full, given_ + 1 + (hi - lo), stride});
  }
  given_ += pages;
  free_ += pages;
}

}  // namespace servecast::engine
