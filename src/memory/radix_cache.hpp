// A radix tree over cached token strings, counted in pages: what a prompt may reuse, and which leaves go when memory
// is short. A page is the unit of reuse (one token or more); strings are run-length keys, page j of a key being the
// content that (chain, j) names together with everything before it.
//
// Invariants: children of a node start with different pages; a locked node's ancestors are locked; the pages of
// unlocked nodes are exactly those that evict() can free. Eviction takes whole leaves, least recently used first;
// splitting a node keeps both halves' locks. With a host tier, a node that the host has a copy of keeps its place when
// the GPU evicts it, and can be raised to the GPU again; nodes on the GPU have their ancestors there. It does not know
// requests, bytes or the pool it shares memory with. The tree is in radix_cache.cpp, the tiers in radix_tiers.cpp.
#pragma once

#include "memory/run_key.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace servecast::memory {

// What is below the GPU. copied_at: a node is copied to the host at its n-th visit by insert(), or (0) when the GPU
// evicts it. Storage gets what the host gets a copy of; of what is copied by eviction, what leaves the host.
struct RadixTiers {
  std::int64_t host_pages = 0;  // 0: no tier at all
  std::int64_t storage_pages = 0;
  std::int32_t copied_at = 1;
};

class RadixCache {
 public:
  using NodeId = std::int32_t;
  static constexpr NodeId root = 0;

  struct Found {
    std::int64_t pages = 0;       // leading pages of the key that the tree held on the GPU
    NodeId node = root;           // the node that ends them (match) or the whole key (insert)
    std::int64_t host_pages = 0;  // pages behind them that the host holds
    NodeId host_node = root;      // the node that ends those; `node` where there are none
  };

  explicit RadixCache(const RadixTiers& tiers = {});

  // Longest prefix of the key in the tree. Renews the path and splits a node the key leaves half way.
  Found match(std::span<const Run> key);
  // Adds what is missing of the key on the GPU. partial: a part of a prompt, which is no visit.
  Found insert(std::span<const Run> key, bool partial = false);
  void lock(NodeId node);    // the node and its ancestors cannot be evicted
  void unlock(NodeId node);  // Requires: locked
  // Evicts unlocked leaves until at least `pages` are freed or none is left; returns the pages freed.
  std::int64_t evict(std::int64_t pages);

  std::int64_t pages() const { return pages_; }  // on the GPU
  std::int64_t evictable() const { return evictable_; }

  // Puts what the host holds up to `node` on the GPU as well; lower() takes that back, up to the node `top`.
  void raise(NodeId node);
  void lower(NodeId node, NodeId top);
  // Host pages for content that is on its way from storage: fewer than asked for where the host has no room.
  std::int64_t reserve_host(std::int64_t pages);
  void release_host(std::int64_t pages) { tiers_->used -= pages; }
  // Content arrived on the host, which had room reserved: pages of the key from `from` on, if all before are still
  // here.
  void insert_host(std::span<const Run> key, std::int64_t from);
  // Leading pages of the key that storage holds.
  std::int64_t in_storage(std::span<const Run> key);
  std::int64_t host_pages() const { return tiers_ ? tiers_->used : 0; }
  std::int64_t storage_pages() const { return tiers_ && tiers_->storage ? tiers_->storage->pages() : 0; }
  std::int64_t host_copies() const { return tiers_ ? tiers_->stored : 0; }      // pages copied there so far
  std::int64_t storage_copies() const { return tiers_ ? tiers_->written : 0; }  // pages written there so far
  // Walks the tree and throws LogicError where its sums disagree. For tests.
  void check() const;

 private:
  struct Node {
    RunKey runs;  // pages [begin, end)
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t used = 0;    // logical time of the last access; no two nodes share one
    std::int64_t filed = -1;  // the access time under which the node is in leaves_, -1: it is not
    NodeId parent = -1;
    std::int32_t locks = 0;
    std::int32_t children = 0;  // on the GPU
    // With a host tier:
    std::int32_t below = 0;  // children on any tier
    std::int32_t visits = 0;
    bool on_gpu = true;
    bool on_host = false;
    std::int64_t host_filed = -1;  // as filed, in the host's leaves
  };
  struct TierState {
    explicit TierState(const RadixTiers& tiers) : limits(tiers) {}
    RadixTiers limits;
    std::int64_t used = 0, stored = 0, written = 0;    // pages
    std::set<std::pair<std::int64_t, NodeId>> leaves;  // on the host alone, without children, by last access
    std::unique_ptr<RadixCache> storage;               // what storage holds
    std::vector<NodeId> path;                          // scratch
  };
  using Branch = std::pair<NodeId, std::uint64_t>;  // parent, chain of the child's first page

  Node& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  NodeId make(NodeId parent, std::int64_t begin, std::int64_t end, RunKey runs);
  NodeId split(NodeId id, std::int64_t page);
  void drop(NodeId id);
  void file(NodeId id);
  Found descend(std::span<const Run> key);
  std::int64_t length(NodeId id) const { return at(id).end - at(id).begin; }

  void split_tiers(NodeId upper, const Node& whole);
  void file_host(NodeId id);
  void without_host(Found& found) const;
  void visit(NodeId node, bool partial);
  void visit_one(NodeId node);
  bool copy_to_host(NodeId id);
  void leave_gpu(NodeId id);
  std::int64_t evict_host(std::int64_t pages);
  void write_to_storage(NodeId id);
  RunKey key_of(NodeId id) const;
  void check_tiers() const;

  std::vector<Node> nodes_;
  std::vector<NodeId> spares_;
  boost::unordered_flat_map<Branch, NodeId> children_;  // never iterated but by check()
  std::set<std::pair<std::int64_t, NodeId>> leaves_;    // unlocked leaves by last access
  std::int64_t clock_ = 0;
  std::int64_t pages_ = 0, evictable_ = 0;
  std::unique_ptr<TierState> tiers_;
};

}  // namespace servecast::memory
