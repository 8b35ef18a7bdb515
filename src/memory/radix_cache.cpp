#include "memory/radix_cache.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::memory {
namespace {

// The part of a key that covers pages [from, to).
RunKey slice(std::span<const Run> key, std::int64_t from, std::int64_t to) {
  RunKey out;
  for (const Run& run : key) {
    if (run.end <= from) continue;
    out.push_back({run.chain, std::min(run.end, to)});
    if (run.end >= to) break;
  }
  return out;
}

std::size_t run_of(std::span<const Run> key, std::int64_t page) {
  const auto after = [](std::int64_t value, const Run& run) { return value < run.end; };
  return static_cast<std::size_t>(std::upper_bound(key.begin(), key.end(), page, after) - key.begin());
}

// First page from `page` on where two strings differ or one of them ends.
std::int64_t common_end(std::span<const Run> a, std::span<const Run> b, std::int64_t page) {
  std::size_t i = run_of(a, page);
  std::size_t j = run_of(b, page);
  while (i < a.size() && j < b.size() && a[i].chain == b[j].chain) {
    page = std::min(a[i].end, b[j].end);
    if (a[i].end == page) ++i;
    if (b[j].end == page) ++j;
  }
  return page;
}

}  // namespace

RadixCache::RadixCache(const RadixTiers& tiers) : nodes_(1) {
  at(root).locks = 1;
  if (tiers.host_pages == 0) return;
  tiers_ = std::make_unique<TierState>(tiers);
  if (tiers.storage_pages > 0) tiers_->storage = std::make_unique<RadixCache>();
}

RadixCache::NodeId RadixCache::make(NodeId parent, std::int64_t begin, std::int64_t end, RunKey runs) {
  NodeId id = static_cast<NodeId>(nodes_.size());
  if (spares_.empty()) {
    nodes_.emplace_back();
  } else {
    id = spares_.back();
    spares_.pop_back();
  }
  children_[{parent, runs.front().chain}] = id;
  at(id) = Node{};
  Node& node = at(id);
  node.runs = std::move(runs);
  node.begin = begin;
  node.end = end;
  node.used = ++clock_;
  node.parent = parent;
  return id;
}

// Cuts a node in two at `page`; the upper half is new, the lower one keeps the id, its children and its holders.
RadixCache::NodeId RadixCache::split(NodeId id, std::int64_t page) {
  const Node whole = at(id);
  const NodeId upper = make(whole.parent, whole.begin, page, slice(whole.runs, whole.begin, page));
  at(upper).locks = whole.locks;
  at(upper).children = 1;
  Node& lower = at(id);
  lower.runs = slice(whole.runs, page, whole.end);
  lower.begin = page;
  lower.parent = upper;
  children_[{upper, lower.runs.front().chain}] = id;
  if (tiers_) split_tiers(upper, whole);
  return upper;
}

// Keeps leaves_ true to the node's children, locks and last access.
void RadixCache::file(NodeId id) {
  Node& node = at(id);
  const std::int64_t key = id != root && node.on_gpu && node.children == 0 && node.locks == 0 ? node.used : -1;
  if (key == node.filed) return;
  if (node.filed >= 0) leaves_.erase({node.filed, id});
  if (key >= 0) leaves_.insert({key, id});
  node.filed = key;
}

// Follows the key as far as the tree has it, renewing what it visits.
RadixCache::Found RadixCache::descend(std::span<const Run> key) {
  Found found;
  const std::int64_t length = key.empty() ? 0 : key.back().end;
  while (found.pages < length) {
    const auto child = children_.find({found.node, key[run_of(key, found.pages)].chain});
    if (child == children_.end()) break;
    const NodeId id = child->second;
    at(id).used = ++clock_;
    file(id);
    if (tiers_) file_host(id);
    const std::int64_t end = common_end(key, at(id).runs, found.pages);
    found.pages = end;
    if (end < at(id).end) {
      found.node = split(id, end);
      break;
    }
    found.node = id;
  }
  return found;
}

RadixCache::Found RadixCache::match(std::span<const Run> key) {
  Found found = descend(key);
  if (tiers_) without_host(found);
  return found;
}

RadixCache::Found RadixCache::insert(std::span<const Run> key, bool partial) {
  Found found = descend(key);
  if (tiers_) visit(found.node, partial);
  const std::int64_t length = key.empty() ? 0 : key.back().end;
  if (found.pages == length) return found;
  const NodeId parent = found.node;
  found.node = make(parent, found.pages, length, slice(key, found.pages, length));
  ++at(parent).children;
  file(parent);
  file(found.node);
  pages_ += length - found.pages;
  evictable_ += length - found.pages;
  if (tiers_) {
    ++at(parent).below;
    if (!partial) visit_one(found.node);
  }
  return found;
}

void RadixCache::lock(NodeId id) {
  for (; id != root; id = at(id).parent) {
    Node& node = at(id);
    if (node.locks++ > 0) continue;
    evictable_ -= node.end - node.begin;
    file(id);
  }
}

void RadixCache::unlock(NodeId id) {
  for (; id != root; id = at(id).parent) {
    Node& node = at(id);
    SERVECAST_ENSURE(node.locks > 0, "radix node {} is unlocked twice", id);
    if (--node.locks > 0) continue;
    evictable_ += node.end - node.begin;
    file(id);
  }
}

void RadixCache::drop(NodeId id) {
  Node& node = at(id);
  leaves_.erase({node.filed, id});
  children_.erase({node.parent, node.runs.front().chain});
  pages_ -= node.end - node.begin;
  evictable_ -= node.end - node.begin;
  --at(node.parent).children;
  file(node.parent);
  spares_.push_back(id);
}

std::int64_t RadixCache::evict(std::int64_t pages) {
  std::int64_t freed = 0;
  while (freed < pages && !leaves_.empty()) {
    const NodeId id = leaves_.begin()->second;
    freed += length(id);
    if (tiers_)
      leave_gpu(id);
    else
      drop(id);
  }
  return freed;
}

void RadixCache::check() const {
  if (tiers_) check_tiers();
  std::int64_t pages = 0, evictable = 0;
  std::size_t leaves = 0;
  for (const auto& [branch, id] : children_) {
    const Node& node = at(id);
    SERVECAST_ENSURE(node.parent == branch.first && node.runs.front().chain == branch.second &&
                         at(node.parent).end == node.begin && node.runs.back().end == node.end,
                     "radix node {} is badly linked", id);
    if (!node.on_gpu) continue;
    SERVECAST_ENSURE(node.locks <= at(node.parent).locks || node.parent == root, "radix node {} outlocks its parent",
                     id);
    pages += node.end - node.begin;
    if (node.locks == 0) evictable += node.end - node.begin;
    if (node.locks == 0 && node.children == 0) leaves += leaves_.count({node.used, id});
  }
  SERVECAST_ENSURE(pages == pages_ && evictable == evictable_ && leaves == leaves_.size(),
                   "radix tree sums disagree: {} of {} pages, {} of {} evictable", pages, pages_, evictable,
                   evictable_);
}

}  // namespace servecast::memory
