// A radix tree over cached token strings, counted in pages: what a prompt may reuse, and which leaves go when memory
// is short. A page is the unit of reuse (one token or more); strings are run-length keys, page j of a key being the
// content that (chain, j) names together with everything before it.
//
// Invariants: children of a node start with different pages; a locked node's ancestors are locked; the pages of
// unlocked nodes are exactly those that evict() can free. Eviction takes whole leaves, least recently used first;
// splitting a node keeps both halves' locks. It does not know requests, bytes or the pool it shares memory with.
#pragma once

#include "memory/run_key.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace servecast::memory {

class RadixCache {
 public:
  using NodeId = std::int32_t;
  static constexpr NodeId root = 0;

  struct Found {
    std::int64_t pages = 0;  // leading pages of the key that the tree held
    NodeId node = root;      // the node that ends them (match) or the whole key (insert)
  };

  RadixCache();

  // Longest prefix of the key in the tree. Renews the path and splits a node the key leaves half way.
  Found match(std::span<const Run> key);
  // Adds what is missing of the key.
  Found insert(std::span<const Run> key);
  void lock(NodeId node);    // the node and its ancestors cannot be evicted
  void unlock(NodeId node);  // Requires: locked
  // Evicts unlocked leaves until at least `pages` are freed or none is left; returns the pages freed.
  std::int64_t evict(std::int64_t pages);

  std::int64_t pages() const { return pages_; }
  std::int64_t evictable() const { return evictable_; }
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
    std::int32_t children = 0;
  };
  using Branch = std::pair<NodeId, std::uint64_t>;  // parent, chain of the child's first page

  Node& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  NodeId make(NodeId parent, std::int64_t begin, std::int64_t end, RunKey runs);
  NodeId split(NodeId id, std::int64_t page);
  void drop(NodeId id);
  void file(NodeId id);
  Found descend(std::span<const Run> key);

  std::vector<Node> nodes_;
  std::vector<NodeId> spares_;
  boost::unordered_flat_map<Branch, NodeId> children_;  // never iterated but by check()
  std::set<std::pair<std::int64_t, NodeId>> leaves_;    // unlocked leaves by last access
  std::int64_t clock_ = 0;
  std::int64_t pages_ = 0, evictable_ = 0;
};

}  // namespace servecast::memory
