// What the layers of a model keep of a sequence, where they differ: kinds of KV-cache groups that share one pool of
// pages of equal bytes. A sequence has a table of pages for every group; the groups of a kind always hold the same
// page numbers. Specified: vLLM design/hybrid_kv_cache_manager.md. Counts are pages, lengths tokens. It does not know
// pools, requests or bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

namespace servecast::engine {

// window: the last `window` tokens, the one being computed among them. chunk: those of the current chunk of `window`
// tokens. state: a recurrent state after the last token, and cached ones at pages' ends (vLLM's mamba cache mode
// `align`). fixed: the same number of pages whatever the length, never cached: an encoder's keys and values, or a state
// where nothing is cached.
enum class KvKeeps : std::uint8_t { Everything, Window, Chunk, State, Fixed };

struct KvKind {
  KvKeeps keeps = KvKeeps::Everything;
  std::int32_t groups = 1;
  std::int32_t block_size = 16;  // tokens of a page
  std::int32_t window = 0;       // window, chunk: tokens
  std::int32_t pages = 0;        // fixed: of each group
};

inline std::int32_t pages_for(std::int32_t tokens, std::int32_t block_size) {
  return (tokens + block_size - 1) / block_size;
}

// Leading pages that no token after the first `computed` ones looks at.
inline std::int32_t skipped_pages(const KvKind& k, std::int32_t computed) {
  switch (k.keeps) {
    case KvKeeps::Window: return std::max(0, computed - k.window + 1) / k.block_size;
    case KvKeeps::Chunk: return computed / k.window * k.window / k.block_size;
    case KvKeeps::State: return std::max(0, computed - 1) / k.block_size;
    default: return 0;
  }
}

// Fewest computed tokens at which more than `pages` leading pages of a window or chunk are skipped.
inline std::int32_t next_skip(const KvKind& k, std::int32_t pages) {
  const std::int32_t tokens = (pages + 1) * k.block_size;
  return k.keeps == KvKeeps::Window ? tokens + k.window - 1 : pages_for(tokens, k.window) * k.window;
}

// Most pages of a group that a sequence of that many tokens ever holds, while up to `in_flight` of its tokens are
// scheduled and not yet computed. A window need not start at a page's edge.
inline std::int32_t most_pages(const KvKind& k, std::int32_t tokens, std::int64_t in_flight) {
  if (k.keeps == KvKeeps::Fixed) return k.pages;
  const std::int32_t all = pages_for(tokens, k.block_size);
  if (k.keeps == KvKeeps::State) return std::min(all, 2);
  if (k.keeps == KvKeeps::Everything) return all;
  const std::int64_t reach = (k.keeps == KvKeeps::Window ? k.window - 1 : k.window) + in_flight;
  const auto held = static_cast<std::int32_t>(std::min<std::int64_t>(reach, tokens));
  return std::min(all, pages_for(held, k.block_size) + (k.keeps == KvKeeps::Window ? 1 : 0));
}

// Cached prefixes end at a multiple of every kind's pages.
inline std::int32_t hit_alignment(std::span<const KvKind> kinds) {
  std::int32_t tokens = 1;
  for (const KvKind& k : kinds)
    if (k.keeps != KvKeeps::Fixed) tokens = std::lcm(tokens, k.block_size);
  return tokens;
}

// Longest hit of one kind, at most `most` tokens. holds(page): every group of the kind has the page cached.
template <typename Holds>
std::int32_t longest_hit_of(const KvKind& k, std::int32_t most, std::int32_t alignment, Holds holds) {
  const std::int32_t size = k.block_size;
  const std::int32_t pages = most / size;
  const auto aligned = [&](std::int32_t page) { return page * size % alignment == 0; };
  if (k.keeps == KvKeeps::Fixed) return most;
  if (k.keeps == KvKeeps::Everything || k.keeps == KvKeeps::Chunk) {
    std::int32_t page = k.keeps == KvKeeps::Chunk ? skipped_pages(k, most) : 0;
    while (page < pages && holds(page)) ++page;
    return page * size / alignment * alignment;
  }
  if (k.keeps == KvKeeps::State) {
    for (std::int32_t page = pages; page > 0; --page)
      if (aligned(page) && holds(page - 1)) return page * size;
    return 0;
  }
  const std::int32_t wanted = pages_for(k.window - 1, size);
  std::int32_t found = 0;
  for (std::int32_t page = pages; page-- > 0;) {
    if (!holds(page)) {
      found = 0;
    } else if (found > 0 || aligned(page + 1)) {
      if (++found >= wanted) return (page + found) * size;
    }
  }
  return found * size / alignment * alignment;  // a run from the first token is enough
}

// Longest prefix that every kind has, at most `most` tokens. holds(kind, page) as above. What keeps everything is
// looked up from the left, the others within that from the right.
template <typename Holds>
std::int32_t longest_hit(std::span<const KvKind> kinds, std::int32_t most, Holds holds) {
  const std::int32_t alignment = hit_alignment(kinds);
  std::int32_t hit = most / alignment * alignment;
  for (std::int32_t before = hit + 1; hit != before;) {
    before = hit;
    for (std::size_t i = 0; i < kinds.size(); ++i)
      hit = longest_hit_of(kinds[i], hit, alignment, [&](std::int32_t page) { return holds(i, page); });
  }
  return hit;
}

}  // namespace servecast::engine
