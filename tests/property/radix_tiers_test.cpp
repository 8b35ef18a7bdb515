// A radix tree with tiers below it equals a naive tree of token strings, over random insertions, matches, locks, loads,
// evictions and arrivals from storage: what the GPU, the host and storage hold of every string, and what was copied.
#include "catch.hpp"
#include "core/random.hpp"
#include "memory/radix_pool.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

using namespace servecast;

namespace {

using Tokens = std::vector<std::uint64_t>;  // a token is told by its chain; its place in the string is the index

struct Node {
  Tokens tokens;
  std::vector<std::unique_ptr<Node>> children;
  Node* parent = nullptr;
  std::int64_t used = 0;
  int locks = 0, visits = 0;
  bool gpu = true, host = false;
  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
  bool has_child(bool on_gpu) const {
    return std::any_of(children.begin(), children.end(), [&](const auto& c) { return !on_gpu || c->gpu; });
  }
};

struct NaiveTiers {
  memory::RadixTiers limits;
  std::int64_t total = 0;  // pages of the GPU
  Node root;
  std::int64_t clock = 0, stored = 0, written = 0, reserved = 0;
  std::unique_ptr<NaiveTiers> storage;

  template <typename F>
  static void visit(Node& node, F f) {
    for (auto& child : node.children) {
      visit(*child, f);
      f(*child);
    }
  }
  std::int64_t on_gpu() {
    std::int64_t sum = 0;
    visit(root, [&](Node& n) { sum += n.gpu ? n.size() : 0; });
    return sum;
  }
  std::int64_t on_host() {
    std::int64_t sum = reserved;
    visit(root, [&](Node& n) { sum += n.host ? n.size() : 0; });
    return sum;
  }
  Node* cut(Node* node, std::size_t at) {
    for (auto& slot : node->parent->children) {
      if (slot.get() != node) continue;
      auto upper = std::make_unique<Node>();
      upper->tokens.assign(node->tokens.begin(), node->tokens.begin() + static_cast<std::ptrdiff_t>(at));
      upper->parent = node->parent;
      upper->used = ++clock;
      upper->locks = node->locks;
      upper->visits = node->visits;
      upper->gpu = node->gpu;
      upper->host = node->host;
      node->tokens.erase(node->tokens.begin(), node->tokens.begin() + static_cast<std::ptrdiff_t>(at));
      node->parent = upper.get();
      upper->children.push_back(std::move(slot));
      slot = std::move(upper);
      return slot.get();
    }
    return nullptr;
  }
  // The deepest node of the string, whatever tier holds it, and the tokens up to its end.
  std::pair<std::int64_t, Node*> walk(const Tokens& string) {
    Node* node = &root;
    std::size_t at = 0;
    while (at < string.size()) {
      Node* next = nullptr;
      for (auto& child : node->children)
        if (child->tokens[0] == string[at]) next = child.get();
      if (!next) break;
      next->used = ++clock;
      std::size_t same = 0;
      while (same < next->tokens.size() && at + same < string.size() && next->tokens[same] == string[at + same]) ++same;
      at += same;
      if (same < next->tokens.size()) return {static_cast<std::int64_t>(at), cut(next, same)};
      node = next;
    }
    return {static_cast<std::int64_t>(at), node};
  }
  void remove(Node* node) {
    std::erase_if(node->parent->children, [&](const auto& c) { return c.get() == node; });
  }
  Tokens string_of(const Node* node) {
    Tokens out;
    for (; node->parent; node = node->parent) out.insert(out.begin(), node->tokens.begin(), node->tokens.end());
    return out;
  }
  void write(Node* node) {
    if (!storage) return;
    const Tokens string = string_of(node);
    written += static_cast<std::int64_t>(string.size()) - storage->insert(string, false).first;
    const std::int64_t over = storage->on_gpu() - limits.storage_pages;
    if (over > 0) storage->evict(over);
  }
  void evict_host(std::int64_t wanted) {
    for (std::int64_t freed = 0; freed < wanted;) {
      Node* oldest = nullptr;
      visit(root, [&](Node& n) {
        if (!n.gpu && !n.has_child(false) && (!oldest || n.used < oldest->used)) oldest = &n;
      });
      if (!oldest) return;
      if (limits.copied_at == 0) write(oldest);
      freed += oldest->size();
      remove(oldest);
    }
  }
  void copy(Node* node) {
    if (limits.host_pages - on_host() < node->size()) evict_host(node->size());
    if (limits.host_pages - on_host() < node->size()) return;
    node->host = true;
    stored += node->size();
    if (limits.copied_at > 0) write(node);
  }
  void seen(Node* node) {
    ++node->visits;
    if (limits.copied_at > 0 && node->visits >= limits.copied_at && !node->host && limits.host_pages > 0) copy(node);
  }
  std::pair<std::int64_t, Node*> insert(const Tokens& string, bool partial) {
    auto [had, node] = walk(string);
    std::vector<Node*> path;
    for (Node* n = node; n->parent; n = n->parent) {
      if (n->gpu) path.insert(path.begin(), n);
      n->gpu = true;
    }
    if (!partial)
      for (Node* n : path) seen(n);
    if (had == static_cast<std::int64_t>(string.size())) return {had, node};
    auto leaf = std::make_unique<Node>();
    leaf->tokens.assign(string.begin() + had, string.end());
    leaf->parent = node;
    leaf->used = ++clock;
    node->children.push_back(std::move(leaf));
    node = node->children.back().get();
    if (!partial) seen(node);
    return {had, node};
  }
  static void lock(Node* node, int by) {
    for (; node->parent; node = node->parent) node->locks += by;
  }
  std::int64_t evict(std::int64_t wanted) {
    std::int64_t freed = 0;
    while (freed < wanted) {
      Node* oldest = nullptr;
      visit(root, [&](Node& n) {
        if (n.gpu && !n.has_child(true) && n.locks == 0 && (!oldest || n.used < oldest->used)) oldest = &n;
      });
      if (!oldest) break;
      freed += oldest->size();
      if (!oldest->host && limits.host_pages > 0 && (limits.copied_at == 0 || oldest->has_child(false))) copy(oldest);
      if (oldest->host)
        oldest->gpu = false;
      else
        remove(oldest);
    }
    return freed;
  }
};

Tokens random_string(core::Random& random) {
  Tokens out;
  const auto runs = 1 + random.below(4);
  for (std::uint64_t i = 0; i < runs; ++i) out.insert(out.end(), 1 + random.below(6), 1 + random.below(3));
  return out;
}

memory::RunKey key_of(const Tokens& string) {
  memory::RunKey key;
  for (std::size_t i = 0; i < string.size(); ++i) memory::append_run(key, string[i], static_cast<std::int64_t>(i + 1));
  return key;
}

struct Pair {
  memory::RadixPool pool;
  NaiveTiers naive;
  std::vector<std::pair<memory::RadixCache::NodeId, Node*>> held;
  std::int64_t loads = 0, refused = 0, arrivals = 0;

  Pair(std::int64_t pages, const memory::RadixTiers& tiers) : pool(pages, tiers) {
    naive.limits = tiers;
    naive.total = pages;
    if (tiers.storage_pages > 0) naive.storage = std::make_unique<NaiveTiers>();
  }
  // Matches, and loads what only the host has if asked to.
  void match(const Tokens& string, bool load, bool keep) {
    const auto found = pool.cache().match(key_of(string));
    auto [tokens, node] = naive.walk(string);
    Node* last = node;
    while (!last->gpu) {
      tokens -= last->size();
      last = last->parent;
    }
    REQUIRE(found.pages == tokens);
    std::int64_t behind = 0;
    for (Node* n = node; n != last; n = n->parent) behind += n->size();
    REQUIRE(found.host_pages == behind);
    if (load && behind > 0) {
      pool.cache().lock(found.node);
      NaiveTiers::lock(last, 1);
      const bool loaded = pool.load(found);
      REQUIRE(loaded == raise(node, last, behind));
      pool.cache().unlock(found.node);
      NaiveTiers::lock(last, -1);
      if (!loaded) return;
      held.emplace_back(found.host_node, node);
    } else if (keep) {
      pool.cache().lock(found.node);
      NaiveTiers::lock(last, 1);
      held.emplace_back(found.node, last);
    }
  }
  bool raise(Node* node, Node* top, std::int64_t pages) {
    for (Node* n = node; n != top; n = n->parent) n->gpu = true;
    NaiveTiers::lock(node, 1);
    if (naive.on_gpu() > naive.total) naive.evict(pages);
    ++loads;
    if (naive.on_gpu() <= naive.total) return true;
    NaiveTiers::lock(node, -1);
    for (Node* n = node; n != top; n = n->parent) n->gpu = false;
    ++refused;
    return false;
  }
  void arrive(const Tokens& string) {
    const std::int64_t known = naive.walk(string).first;
    pool.cache().match(key_of(string));
    const auto wanted = static_cast<std::int64_t>(string.size()) - known;
    const std::int64_t granted = pool.cache().reserve_host(wanted);
    if (naive.limits.host_pages - naive.on_host() < wanted) naive.evict_host(wanted);
    REQUIRE(granted == std::min(wanted, naive.limits.host_pages - naive.on_host()));
    pool.cache().release_host(granted);
    const Tokens part(string.begin(), string.begin() + static_cast<std::ptrdiff_t>(known + granted));
    pool.cache().insert_host(key_of(part), known);
    auto [now, node] = naive.walk(part);
    if (now < known || now == static_cast<std::int64_t>(part.size())) return;
    auto leaf = std::make_unique<Node>();
    leaf->tokens.assign(part.begin() + now, part.end());
    leaf->parent = node;
    leaf->used = ++naive.clock;
    leaf->gpu = false;
    leaf->host = true;
    node->children.push_back(std::move(leaf));
    ++arrivals;
  }
  void insert(const Tokens& string, bool partial, bool keep) {
    if (pool.available() < static_cast<std::int64_t>(string.size())) {
      const auto wanted = static_cast<std::int64_t>(string.size());
      REQUIRE(pool.cache().evict(wanted) == naive.evict(wanted));
      if (pool.available() < wanted) return;
    }
    const auto found = pool.cache().insert(key_of(string), partial);
    const auto [had, node] = naive.insert(string, partial);
    REQUIRE(found.pages == had);
    if (!keep) return;
    pool.cache().lock(found.node);
    NaiveTiers::lock(node, 1);
    held.emplace_back(found.node, node);
  }
  void release(std::size_t i) {
    pool.cache().unlock(held[i].first);
    NaiveTiers::lock(held[i].second, -1);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void compare() {
    pool.cache().check();
    REQUIRE(pool.cache().pages() == naive.on_gpu());
    REQUIRE(pool.cache().host_pages() == naive.on_host());
    REQUIRE(pool.cache().host_copies() == naive.stored);
    REQUIRE(pool.cache().storage_copies() == naive.written);
  }
};

}  // namespace

TEST_CASE("a radix tree with a host and storage equals a naive tree of strings") {
  std::int64_t loads = 0, refused = 0, arrivals = 0, stored = 0, written = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    core::Random random(seed, "test/radix-tiers");
    memory::RadixTiers tiers;
    tiers.host_pages = 1 + static_cast<std::int64_t>(random.below(60));
    tiers.storage_pages = random.below(2) == 0 ? 0 : 1 + static_cast<std::int64_t>(random.below(80));
    tiers.copied_at = static_cast<std::int32_t>(random.below(3));
    Pair pair(24 + static_cast<std::int64_t>(random.below(20)), tiers);
    for (int i = 0; i < 150; ++i) {
      INFO("seed " << seed << " operation " << i);
      const Tokens string = random_string(random);
      const auto choice = random.below(10);
      const bool keep = random.below(4) == 0;
      if (choice < 4)
        pair.insert(string, random.below(4) == 0, keep);
      else if (choice < 7)
        pair.match(string, random.below(2) == 0, keep);
      else if (choice == 7 && !pair.held.empty())
        pair.release(random.below(pair.held.size()));
      else if (choice == 8)
        pair.arrive(string);
      else if (choice == 9) {
        const auto wanted = static_cast<std::int64_t>(random.below(12));
        REQUIRE(pair.pool.cache().evict(wanted) == pair.naive.evict(wanted));
      }
      pair.compare();
    }
    loads += pair.loads, refused += pair.refused, arrivals += pair.arrivals;
    stored += pair.naive.stored, written += pair.naive.written;
  }
  CHECK(loads > 1000);
  CHECK(refused > 50);
  CHECK(arrivals > 1000);
  CHECK(stored > 10'000);
  CHECK(written > 10'000);
}
