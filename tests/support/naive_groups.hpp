// A KV cache of several groups as maps and vectors: the rules of engine/grouped_kv.hpp written down as plainly as they
// read, with a table of block ids for every group and a hit found by trying every length.
#pragma once

#include "engine/config.hpp"
#include "engine/sequence.hpp"
#include "support/naive_pool.hpp"

#include <algorithm>
#include <vector>

namespace servecast::test {

class NaiveGroups {
 public:
  static constexpr int null = -1;
  struct Group {
    engine::KvKind kind;
    int number = 0;
  };
  struct Tables {
    std::vector<std::vector<int>> pages;  // by group; a page that is not held is null
    std::vector<int> published;           // by group
  };

  explicit NaiveGroups(const engine::Config& config) : config_(config), pool(static_cast<int>(config.blocks)) {
    for (const engine::KvKind& kind : config.kinds)
      for (int i = 0; i < kind.groups; ++i) groups_.push_back({kind, static_cast<int>(groups_.size())});
  }

  std::size_t groups() const { return groups_.size(); }

  // Longest prefix of whole pages of every group whose next token finds all it looks at.
  int longest_hit(const engine::SequenceState& s) const {
    for (int tokens = s.tokens() - 1; tokens > 0; --tokens) {
      const auto fits = [&](const Group& g) {
        if (g.kind.keeps == engine::KvKeeps::Fixed) return true;
        if (tokens % g.kind.block_size != 0) return false;
        for (int page = first_needed(g.kind, tokens); page < tokens / g.kind.block_size; ++page)
          if (!pool.find(key(s, g, page))) return false;
        return true;
      };
      if (std::all_of(groups_.begin(), groups_.end(), fits)) return tokens;
    }
    return 0;
  }

  // Blocks that starting with a hit of `hit` tokens takes, for the first `tokens` tokens.
  std::int64_t need(const engine::SequenceState& s, int hit, int tokens, bool whole) {
    std::int64_t blocks = 0;
    for (const Group& g : groups_) {
      if (g.kind.keeps == engine::KvKeeps::Fixed) {
        blocks += g.kind.pages;
        continue;
      }
      const int size = g.kind.block_size;
      int pages = (tokens + size - 1) / size;
      if (whole) pages = std::min(pages, bound(g.kind));
      int more = std::max(0, pages - hit / size);
      if (g.kind.keeps == engine::KvKeeps::State) more = std::min(more, 1);
      blocks += more;
      for (int page = first_needed(g.kind, hit); page < hit / size; ++page)
        if (pool.count(*pool.find(key(s, g, page))) == 0) ++blocks;
    }
    return blocks;
  }

  void start(const engine::SequenceState& s, Tables& t, int hit) {
    t.pages.assign(groups_.size(), {});
    t.published.assign(groups_.size(), 0);
    std::vector<std::pair<std::size_t, int>> held;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const engine::KvKind& kind = groups_[g].kind;
      if (kind.keeps == engine::KvKeeps::Fixed) continue;
      for (int page = 0; page < hit / kind.block_size; ++page) {
        t.pages[g].push_back(null);
        if (page < first_needed(kind, hit)) continue;
        t.pages[g].back() = *pool.find(key(s, groups_[g], page));
        pool.retain(t.pages[g].back());
      }
      t.published[g] = hit / kind.block_size;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].kind.keeps == engine::KvKeeps::Fixed)
        for (int page = 0; page < groups_[g].kind.pages; ++page) t.pages[g].push_back(pool.allocate());
    append(t, s.computed);
  }

  bool grow(const engine::SequenceState& s, Tables& t, int tokens) {
    skip(s, t);
    std::int64_t blocks = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const int more = missing(g, t, tokens);
      blocks += groups_[g].kind.keeps == engine::KvKeeps::State ? std::min(more, 1) : more;
    }
    if (blocks > pool.free()) return false;
    append(t, tokens);
    return true;
  }

  void publish(const engine::SequenceState& s, Tables& t) {
    const int computed = std::min(s.computed, s.tokens());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const engine::KvKind& kind = groups_[g].kind;
      if (kind.keeps == engine::KvKeeps::Fixed) continue;
      if (kind.keeps == engine::KvKeeps::State && computed % kind.block_size != 0) continue;
      for (int& page = t.published[g]; page < computed / kind.block_size; ++page) {
        const int block = t.pages[g][static_cast<std::size_t>(page)];
        const bool last = page + 1 == computed / kind.block_size;
        if (block != null && (kind.keeps != engine::KvKeeps::State || last))
          pool.publish(block, key(s, groups_[g], page));
      }
    }
  }

  void release(Tables& t) {
    for (std::vector<int>& pages : t.pages)
      for (auto block = pages.rbegin(); block != pages.rend(); ++block)
        if (*block != null) pool.release(*block);
    t = {};
  }

 private:
  const engine::Config& config_;
  std::vector<Group> groups_;

 public:
  NaivePool pool;

 private:
  static int first_needed(const engine::KvKind& k, int computed) {
    switch (k.keeps) {
      case engine::KvKeeps::Window: return computed < k.window ? 0 : (computed - (k.window - 1)) / k.block_size;
      case engine::KvKeeps::Chunk: return (computed - computed % k.window) / k.block_size;
      case engine::KvKeeps::State: return computed == 0 ? 0 : (computed - 1) / k.block_size;
      default: return 0;
    }
  }
  int bound(const engine::KvKind& k) const {
    const int in_flight = config_.max_num_batched_tokens * (config_.async_scheduling ? 2 : 1);
    const auto pages = [&](int tokens) {
      return (std::min(tokens, config_.max_model_len) + k.block_size - 1) / k.block_size;
    };
    if (k.keeps == engine::KvKeeps::Window)
      return std::min(pages(config_.max_model_len), pages(k.window - 1 + in_flight) + 1);
    if (k.keeps == engine::KvKeeps::Chunk) return pages(k.window + in_flight);
    return 1 << 30;
  }
  int missing(std::size_t g, const Tables& t, int tokens) const {
    if (groups_[g].kind.keeps == engine::KvKeeps::Fixed) return 0;
    const int size = groups_[g].kind.block_size;
    return std::max(0, (tokens + size - 1) / size - static_cast<int>(t.pages[g].size()));
  }
  void skip(const engine::SequenceState& s, Tables& t) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const engine::KvKind& kind = groups_[g].kind;
      const int seen = kind.keeps == engine::KvKeeps::State ? s.computed : s.settled;
      const int end = std::min(first_needed(kind, seen), static_cast<int>(t.pages[g].size()));
      for (int page = end; page-- > 0;) {
        int& block = t.pages[g][static_cast<std::size_t>(page)];
        if (block != null) pool.release(block);
        block = null;
      }
    }
  }
  void append(Tables& t, int tokens) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (int more = missing(g, t, tokens); more > 0; --more) {
        const bool empty = groups_[g].kind.keeps == engine::KvKeeps::State && more > 1;
        t.pages[g].push_back(empty ? null : pool.allocate());
      }
    }
  }
  static NaivePool::Key key(const engine::SequenceState& s, const Group& g, int page) {
    const int last = (page + 1) * g.kind.block_size - 1;
    std::uint64_t chain = s.request.content.tail != 0 ? s.request.content.tail : 1'000'000 + s.request.id.value;
    for (auto piece = s.request.content.pieces.rbegin(); piece != s.request.content.pieces.rend(); ++piece)
      if (last < piece->end) chain = piece->chain;
    return {chain * 64 + static_cast<std::uint64_t>(g.number), page};
  }
};

}  // namespace servecast::test
