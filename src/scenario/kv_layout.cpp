#include "scenario/kv_layout.hpp"

#include "core/error.hpp"
#include "model/blocks.hpp"
#include "model/kv_bytes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace servecast::scenario {
namespace {

// Attention kernels of hybrid models take blocks of whole multiples of this. Specified: vLLM's configuration of hybrid
// models; Qwen3.5-35B-A3B with an FP8 cache then has blocks of 2,096 tokens, which a start log confirms (148,816 tokens
// in 5.69 GiB).
constexpr std::int64_t kernel_tokens = 16;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Layers whose pages are alike.
enum class Keeps { Everything, Window, State, Encoder };
struct Layers {
  Keeps keeps = Keeps::Everything;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // of a token, or of a sequence's state
  std::int32_t window = 0;
  bool chunked = false;
};

std::int64_t token_bytes(const model::Attention& a, precision::Format kv, std::int32_t tensor, const KvRules& rules) {
  const bool latent = a.kind == model::AttentionKind::Mla;
  const bool flash_mla_fp8 = latent && a.indexer_top_k > 0 && kv == precision::Format::Fp8;
  const std::int64_t row = flash_mla_fp8 ? model::sparse_mla_fp8_bytes : model::kv_layer_bytes(a, kv, tensor);
  return latent ? ceil_divide(row, rules.row_multiple) * rules.row_multiple : row;
}

void add(std::vector<Layers>& kinds, const Layers& more) {
  if (more.count == 0) return;
  for (Layers& k : kinds) {
    if (k.keeps != more.keeps || k.bytes != more.bytes || k.window != more.window) continue;
    k.count += more.count;
    return;
  }
  kinds.push_back(more);
}

// In a fixed order: what keeps every token first.
std::vector<Layers> kinds_of(const model::Architecture& m, precision::Format kv, std::int32_t tensor,
                             const KvRules& rules) {
  const model::Blocks blocks = model::blocks_of(m);
  std::vector<Layers> kinds;
  for (const model::AttentionBlocks& g : blocks.attention)
    if (!g.cross) add(kinds, {Keeps::Everything, g.count - g.windowed, token_bytes(*g.attention, kv, tensor, rules)});
  for (const model::AttentionBlocks& g : blocks.attention)
    if (!g.cross)
      add(kinds, {Keeps::Window, g.windowed, token_bytes(*g.attention, kv, tensor, rules), g.attention->window,
                  g.attention->window_is_chunk});
  for (const model::AttentionBlocks& g : blocks.attention)
    if (g.cross) add(kinds, {Keeps::Encoder, g.count, token_bytes(*g.attention, kv, tensor, rules)});
  if (m.state) add(kinds, {Keeps::State, blocks.state, model::state_bytes(*m.state, tensor)});
  return kinds;
}

// The smallest count is the size of a group, the last group of other kinds padded; counts within a quarter of each
// other share the largest. Specified: vLLM design/hybrid_kv_cache_manager.md and kv_cache_utils.py.
std::int64_t group_size(const std::vector<Layers>& kinds) {
  std::int64_t low = kinds[0].count;
  std::int64_t high = kinds[0].count;
  for (const Layers& k : kinds) {
    low = std::min(low, k.count);
    high = std::max(high, k.count);
  }
  return 4 * high < 5 * low ? high : low;
}

bool shares_pool(const std::vector<Layers>& kinds, const KvRules& rules) {
  const auto differs = [](const Layers& k) { return k.keeps != Keeps::Everything; };
  return rules.hybrid_groups && std::any_of(kinds.begin(), kinds.end(), differs);
}

// Bytes of a page: a block of the widest attention layers, enlarged until a state fits.
std::int64_t page_bytes(const std::vector<Layers>& kinds, std::int32_t block_size) {
  std::int64_t token = 0;
  std::int64_t state = 0;
  for (const Layers& k : kinds) {
    std::int64_t& widest = k.keeps == Keeps::State ? state : token;
    widest = std::max(widest, k.bytes);
  }
  if (token == 0) return state;
  std::int64_t tokens = block_size;
  if (state > tokens * token) tokens = kernel_tokens * ceil_divide(state, kernel_tokens * token);
  return tokens * token;
}

engine::KvKind kind_of(const Layers& k, std::int64_t groups, std::int32_t tokens, const model::Architecture& m,
                       const KvRules& rules) {
  using engine::KvKeeps;
  engine::KvKind kind{KvKeeps::Everything, static_cast<std::int32_t>(groups), tokens, k.window, 0};
  if (k.keeps == Keeps::Window) kind.keeps = k.chunked ? KvKeeps::Chunk : KvKeeps::Window;
  if (k.keeps == Keeps::State && rules.prefix_caching) kind.keeps = KvKeeps::State;
  if (k.keeps == Keeps::State && !rules.prefix_caching) kind.keeps = KvKeeps::Fixed, kind.pages = 1;
  if (k.keeps == Keeps::Encoder) {
    kind.keeps = KvKeeps::Fixed;
    kind.pages = static_cast<std::int32_t>(ceil_divide(m.encoder_tokens, tokens));
  }
  return kind;
}

void share_pool(KvLayout& out, const model::Architecture& m, const std::vector<Layers>& kinds, const KvRules& rules) {
  const std::int64_t size = group_size(kinds);
  const std::int64_t page = page_bytes(kinds, out.block_size);
  const std::int32_t given = out.block_size;
  out.full_groups = 0;
  out.block_size = 0;
  for (const Layers& k : kinds) {
    const std::int64_t groups = ceil_divide(k.count, size);
    auto tokens = static_cast<std::int32_t>(page / k.bytes);
    if (k.keeps == Keeps::Everything) out.full_groups += groups, out.block_size = tokens;
    if (k.keeps == Keeps::Window) {
      out.windowed_groups += groups, out.windowed_block_size = tokens;
      out.window = k.window, out.window_is_chunk = k.chunked;
    }
    if (k.keeps == Keeps::State) {
      out.state_groups += groups;
      out.fixed_blocks += groups * (rules.prefix_caching ? 2 : 1);
      tokens = out.block_size > 0 ? out.block_size : given;  // states are kept where attention's blocks end
    }
    if (k.keeps == Keeps::Encoder) {
      out.encoder_groups += groups;
      out.fixed_blocks += groups * ceil_divide(m.encoder_tokens, tokens);
    }
    out.kinds.push_back(kind_of(k, groups, tokens, m, rules));
  }
  if (out.block_size == 0) out.block_size = out.windowed_groups > 0 ? out.windowed_block_size : given;
  out.block_bytes = static_cast<double>(size * page);
}

}  // namespace

std::optional<std::string> layout_problem(const model::Architecture& m, precision::Format kv, std::int32_t tensor,
                                          const KvRules& rules) {
  const std::vector<Layers> kinds = kinds_of(m, kv, tensor, rules);
  if (!shares_pool(kinds, rules)) return std::nullopt;
  if (rules.draft_bytes > 0)
    return "layers of a draft model beside groups of layers that share a pool are not described";
  std::int64_t widest = 0;
  for (const Layers& k : kinds)
    if (k.keeps != Keeps::State) widest = std::max(widest, k.bytes);
  for (const Layers& k : kinds) {
    if (k.keeps == Keeps::State || widest % k.bytes == 0) continue;
    return fmt::format(
        "layers of {} and of {} bytes per token cannot share pages, which the engine makes equal; use "
        "another tensor size",
        widest, k.bytes);
  }
  return std::nullopt;
}

KvLayout kv_layout(const model::Architecture& m, precision::Format kv, std::int32_t tensor, std::int32_t block_size,
                   const KvRules& rules) {
  const model::KvBytes bytes = model::kv_bytes(m, kv, tensor);
  const std::vector<Layers> kinds = kinds_of(m, kv, tensor, rules);
  KvLayout out;
  out.block_size = out.windowed_block_size = block_size;
  std::int64_t sums[] = {bytes.indexer + rules.draft_bytes, 0, 0, 0};
  for (const Layers& k : kinds) sums[static_cast<std::size_t>(k.keeps)] += k.count * k.bytes;
  const auto [everything, window, state, encoder] = sums;
  const std::int64_t token = everything + window;
  out.bytes_per_token = static_cast<double>(token);
  out.bytes_beyond_window = static_cast<double>(rules.hybrid_groups ? everything : token);
  out.bytes_per_request = static_cast<double>(bytes.per_sequence);
  if (shares_pool(kinds, rules)) {
    share_pool(out, m, kinds, rules);
    return out;
  }
  // Engines without groups give every layer the same blocks, layers that attend to an encoder among them.
  out.pooled_state_bytes = static_cast<double>(state);
  if (encoder > 0) out.fixed_blocks = ceil_divide(m.encoder_tokens, block_size);
  out.block_bytes = static_cast<double>(block_size * (token + encoder));
  out.block_size *= rules.decode_context;
  out.bytes_per_token /= rules.decode_context;
  out.bytes_beyond_window /= rules.decode_context;
  return out;
}

std::int64_t blocks_held(const KvLayout& l, std::int64_t tokens) {
  if (l.kinds.empty()) return l.fixed_blocks + l.full_groups * ceil_divide(tokens, l.block_size);
  const auto length = static_cast<std::int32_t>(tokens);
  std::int64_t blocks = 0;
  for (const engine::KvKind& k : l.kinds) {
    const std::int32_t all = engine::pages_for(length, k.block_size);
    // The next token still sees what is not skipped.
    const std::int32_t held = k.keeps == engine::KvKeeps::Fixed ? k.pages : all - engine::skipped_pages(k, length);
    blocks += std::int64_t{k.groups} * held;
  }
  return blocks;
}

std::int64_t blocks_of(const KvLayout& l, std::int64_t tokens, std::int64_t in_flight) {
  if (l.kinds.empty()) return l.fixed_blocks + l.full_groups * ceil_divide(tokens, l.block_size);
  std::int64_t blocks = 0;
  for (const engine::KvKind& k : l.kinds)
    blocks += std::int64_t{k.groups} * engine::most_pages(k, static_cast<std::int32_t>(tokens), in_flight);
  return blocks;
}

}  // namespace servecast::scenario
