// The radix cache equals a naive tree of token strings, token by token, over random insertions, matches, locks and
// evictions.
#include "memory/radix_cache.hpp"

#include "catch.hpp"
#include "core/random.hpp"

#include <memory>
#include <vector>

using namespace servecast;

namespace {

using Tokens = std::vector<std::uint64_t>;  // a token is told by its chain; its place in the string is the index

struct NaiveNode {
  Tokens tokens;
  std::vector<std::unique_ptr<NaiveNode>> children;
  NaiveNode* parent = nullptr;
  std::int64_t used = 0;
  int locks = 0;
};

class NaiveTree {
 public:
  std::pair<std::int64_t, NaiveNode*> walk(const Tokens& string) {
    NaiveNode* node = &root_;
    std::size_t at = 0;
    while (at < string.size()) {
      NaiveNode* next = nullptr;
      for (auto& child : node->children)
        if (child->tokens[0] == string[at]) next = child.get();
      if (!next) break;
      next->used = ++clock_;
      std::size_t same = 0;
      while (same < next->tokens.size() && at + same < string.size() && next->tokens[same] == string[at + same]) ++same;
      at += same;
      if (same < next->tokens.size()) return {static_cast<std::int64_t>(at), cut(next, same)};
      node = next;
    }
    return {static_cast<std::int64_t>(at), node};
  }
  std::pair<std::int64_t, NaiveNode*> insert(const Tokens& string) {
    auto [had, node] = walk(string);
    if (had == static_cast<std::int64_t>(string.size())) return {had, node};
    auto leaf = std::make_unique<NaiveNode>();
    leaf->tokens.assign(string.begin() + had, string.end());
    leaf->parent = node;
    leaf->used = ++clock_;
    node->children.push_back(std::move(leaf));
    return {had, node->children.back().get()};
  }
  static void lock(NaiveNode* node, int by) {
    for (; node->parent; node = node->parent) node->locks += by;
  }
  std::int64_t evict(std::int64_t wanted) {
    std::int64_t freed = 0;
    while (freed < wanted) {
      NaiveNode* oldest = nullptr;
      visit(root_, [&](NaiveNode& n) {
        if (n.children.empty() && n.locks == 0 && (!oldest || n.used < oldest->used)) oldest = &n;
      });
      if (!oldest) break;
      freed += static_cast<std::int64_t>(oldest->tokens.size());
      std::erase_if(oldest->parent->children, [&](const auto& c) { return c.get() == oldest; });
    }
    return freed;
  }
  std::pair<std::int64_t, std::int64_t> sizes() {
    std::int64_t all = 0, loose = 0;
    visit(root_, [&](NaiveNode& n) {
      all += static_cast<std::int64_t>(n.tokens.size());
      if (n.locks == 0) loose += static_cast<std::int64_t>(n.tokens.size());
    });
    return {all, loose};
  }

 private:
  template <typename F>
  static void visit(NaiveNode& node, F f) {
    for (auto& child : node.children) {
      visit(*child, f);
      f(*child);
    }
  }
  NaiveNode* cut(NaiveNode* node, std::size_t at) {
    auto& siblings = node->parent->children;
    for (auto& slot : siblings) {
      if (slot.get() != node) continue;
      auto upper = std::make_unique<NaiveNode>();
      upper->tokens.assign(node->tokens.begin(), node->tokens.begin() + static_cast<std::ptrdiff_t>(at));
      upper->parent = node->parent;
      upper->used = ++clock_;
      upper->locks = node->locks;
      node->tokens.erase(node->tokens.begin(), node->tokens.begin() + static_cast<std::ptrdiff_t>(at));
      node->parent = upper.get();
      upper->children.push_back(std::move(slot));
      slot = std::move(upper);
      return slot.get();
    }
    return nullptr;
  }
  NaiveNode root_;
  std::int64_t clock_ = 0;
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

}  // namespace

TEST_CASE("the radix cache equals a naive tree of strings") {
  std::int64_t splits = 0, evicted = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    core::Random random(seed, "test/radix");
    memory::RadixCache tree;
    NaiveTree naive;
    std::vector<std::pair<memory::RadixCache::NodeId, NaiveNode*>> held;
    for (int i = 0; i < 150; ++i) {
      INFO("seed " << seed << " operation " << i);
      const auto choice = random.below(8);
      if (choice < 6) {
        const Tokens string = random_string(random);
        const memory::RunKey key = key_of(string);
        const auto found = choice < 3 ? tree.insert(key) : tree.match(key);
        const auto [pages, node] = choice < 3 ? naive.insert(string) : naive.walk(string);
        REQUIRE(found.pages == pages);
        splits += pages > 0 && pages < static_cast<std::int64_t>(string.size()) ? 1 : 0;
        if (random.below(4) == 0) {
          tree.lock(found.node);
          NaiveTree::lock(node, 1);
          held.emplace_back(found.node, node);
        }
      } else if (choice == 6 && !held.empty()) {
        const auto at = random.below(held.size());
        tree.unlock(held[at].first);
        NaiveTree::lock(held[at].second, -1);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (choice == 7) {
        const auto wanted = static_cast<std::int64_t>(random.below(12));
        const std::int64_t freed = tree.evict(wanted);
        REQUIRE(freed == naive.evict(wanted));
        evicted += freed;
      }
      const auto [all, loose] = naive.sizes();
      REQUIRE(tree.pages() == all);
      REQUIRE(tree.evictable() == loose);
      tree.check();
    }
  }
  CHECK(splits > 1000);
  CHECK(evicted > 1000);
}
