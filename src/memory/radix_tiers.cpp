// The tiers below the GPU of a radix tree: copies on the host, which keep a node's place in the tree, and what storage
// got of them. Host copies of nodes that are on the GPU too are never evicted; of the others whole leaves go, least
// recently used first. Rules: sglang's hiradix_cache.py.
#include "core/error.hpp"
#include "memory/radix_cache.hpp"

#include <algorithm>

namespace servecast::memory {

// `whole` is what the lower half was; the new upper half has its copies, its visits and the lower half as a child.
void RadixCache::split_tiers(NodeId upper, const Node& whole) {
  Node& node = at(upper);
  node.children = whole.on_gpu ? 1 : 0;
  node.below = 1;
  node.visits = whole.visits;
  node.on_gpu = whole.on_gpu;
  node.on_host = whole.on_host;
}

// Keeps the host's leaves true to the node's tiers, children and last access.
void RadixCache::file_host(NodeId id) {
  Node& node = at(id);
  const std::int64_t key = !node.on_gpu && node.below == 0 ? node.used : -1;
  if (key == node.host_filed) return;
  if (node.host_filed >= 0) tiers_->leaves.erase({node.host_filed, id});
  if (key >= 0) tiers_->leaves.insert({key, id});
  node.host_filed = key;
}

// Splits what was found into the part on the GPU and what only the host has.
void RadixCache::without_host(Found& found) const {
  found.host_node = found.node;
  while (!at(found.node).on_gpu) {
    found.host_pages += length(found.node);
    found.node = at(found.node).parent;
  }
  found.pages -= found.host_pages;
}

void RadixCache::visit_one(NodeId id) {
  Node& node = at(id);
  ++node.visits;
  const std::int32_t due = tiers_->limits.copied_at;
  if (due > 0 && node.visits >= due && !node.on_host) copy_to_host(id);
}

// Somebody computed or held everything up to the node: what only the host had is on the GPU again, what was there is
// visited, ancestors first.
void RadixCache::visit(NodeId node, bool partial) {
  std::vector<NodeId>& path = tiers_->path;
  path.clear();
  for (NodeId id = node; id != root && at(id).on_gpu; id = at(id).parent) path.push_back(id);
  if (node != root && !at(node).on_gpu) {
    NodeId top = node;
    while (!at(top).on_gpu) top = at(top).parent;
    for (NodeId id = top; id != root; id = at(id).parent) path.push_back(id);
    raise(node);
  }
  if (partial) return;
  for (auto it = path.rbegin(); it != path.rend(); ++it) visit_one(*it);
}

void RadixCache::raise(NodeId id) {
  for (; !at(id).on_gpu; id = at(id).parent) {
    Node& node = at(id);
    node.on_gpu = true;
    pages_ += length(id);
    evictable_ += length(id);
    ++at(node.parent).children;
    file_host(id);
    file(id);
    file(node.parent);
  }
}

void RadixCache::lower(NodeId id, NodeId top) {
  for (; id != top; id = at(id).parent) {
    Node& node = at(id);
    node.on_gpu = false;
    pages_ -= length(id);
    evictable_ -= length(id);
    --at(node.parent).children;
    file(id);
    file_host(id);
    file(node.parent);
  }
}

// False: the host has no room, as all it holds is on the GPU as well or on its way.
bool RadixCache::copy_to_host(NodeId id) {
  const std::int64_t pages = length(id);
  if (tiers_->limits.host_pages - tiers_->used < pages) evict_host(pages);
  if (tiers_->limits.host_pages - tiers_->used < pages) return false;
  at(id).on_host = true;
  tiers_->used += pages;
  tiers_->stored += pages;
  if (tiers_->limits.copied_at > 0) write_to_storage(id);
  return true;
}

// An unlocked leaf of the GPU goes: it stays on the host if that has or gets a copy. What has children on the host is
// copied in any case; where even that finds no room, the children have gone.
void RadixCache::leave_gpu(NodeId id) {
  if (!at(id).on_host && (tiers_->limits.copied_at == 0 || at(id).below > 0)) copy_to_host(id);
  if (!at(id).on_host) {
    SERVECAST_ENSURE(at(id).below == 0, "radix node {} would leave children behind", id);
    const NodeId parent = at(id).parent;
    drop(id);
    --at(parent).below;
    return;
  }
  lower(id, at(id).parent);
}

std::int64_t RadixCache::evict_host(std::int64_t pages) {
  std::int64_t freed = 0;
  while (freed < pages && !tiers_->leaves.empty()) {
    const NodeId id = tiers_->leaves.begin()->second;
    Node& node = at(id);
    if (tiers_->limits.copied_at == 0) write_to_storage(id);
    tiers_->leaves.erase({node.host_filed, id});
    children_.erase({node.parent, node.runs.front().chain});
    freed += length(id);
    --at(node.parent).below;
    if (node.parent != root) file_host(node.parent);
    spares_.push_back(id);
  }
  tiers_->used -= freed;
  return freed;
}

// Storage keeps a node together with all before it, and what was used last.
void RadixCache::write_to_storage(NodeId id) {
  if (!tiers_->storage) return;
  RadixCache& storage = *tiers_->storage;
  const RunKey key = key_of(id);
  const Found found = storage.insert(key);
  tiers_->written += key.back().end - found.pages;
  const std::int64_t over = storage.pages() - tiers_->limits.storage_pages;
  if (over > 0) storage.evict(over);
}

RunKey RadixCache::key_of(NodeId id) const {
  std::vector<NodeId> path;
  for (; id != root; id = at(id).parent) path.push_back(id);
  RunKey key;
  for (auto it = path.rbegin(); it != path.rend(); ++it)
    for (const Run& run : at(*it).runs) append_run(key, run.chain, run.end);
  return key;
}

std::int64_t RadixCache::reserve_host(std::int64_t pages) {
  const auto room = [this] { return tiers_->limits.host_pages - tiers_->used; };
  if (room() < pages) evict_host(pages);
  const std::int64_t granted = std::min(pages, std::max<std::int64_t>(room(), 0));
  tiers_->used += granted;
  return granted;
}

void RadixCache::insert_host(std::span<const Run> key, std::int64_t from) {
  const Found found = descend(key);
  const std::int64_t end = key.empty() ? 0 : key.back().end;
  if (found.pages < from || found.pages == end) return;
  RunKey rest;
  for (const Run& run : key)
    if (run.end > found.pages) rest.push_back(run);
  const NodeId id = make(found.node, found.pages, end, std::move(rest));
  at(id).on_gpu = false;
  at(id).on_host = true;
  tiers_->used += end - found.pages;
  ++at(found.node).below;
  file_host(id);
  if (found.node != root) file_host(found.node);
}

std::int64_t RadixCache::in_storage(std::span<const Run> key) {
  return tiers_->storage ? tiers_->storage->match(key).pages : 0;
}

void RadixCache::check_tiers() const {
  std::int64_t host = 0;
  std::size_t leaves = 0;
  std::vector<std::int32_t> gpu(nodes_.size(), 0), any(nodes_.size(), 0);
  for (const auto& [branch, id] : children_) {
    const Node& node = at(id);
    const auto parent = static_cast<std::size_t>(node.parent);
    SERVECAST_ENSURE(node.on_gpu || node.on_host, "radix node {} is nowhere", id);
    SERVECAST_ENSURE(!node.on_gpu || at(node.parent).on_gpu, "radix node {} is on the GPU without its parent", id);
    if (node.on_host) host += length(id);
    ++any[parent];
    if (node.on_gpu) ++gpu[parent];
    if (!node.on_gpu && node.below == 0) leaves += tiers_->leaves.count({node.used, id});
  }
  for (const auto& [branch, id] : children_) {
    const auto i = static_cast<std::size_t>(id);
    SERVECAST_ENSURE(any[i] == at(id).below && gpu[i] == at(id).children, "radix node {} miscounts its children", id);
  }
  SERVECAST_ENSURE(host <= tiers_->used && tiers_->used <= tiers_->limits.host_pages && leaves == tiers_->leaves.size(),
                   "host tier: {} pages in nodes, {} used of {}", host, tiers_->used, tiers_->limits.host_pages);
}

}  // namespace servecast::memory
