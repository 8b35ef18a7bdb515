#include "scenario/kv_layout.hpp"

#include "model/kv_bytes.hpp"

#include <algorithm>

namespace servecast::scenario {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Counts within a quarter of each other share the larger as group size; otherwise the smaller one, the last group of
// the other kind padded. Specified: vLLM design/hybrid_kv_cache_manager.md and kv_cache_utils.py.
std::int64_t group_size(std::int64_t full, std::int64_t windowed) {
  const auto [low, high] = std::minmax(full, windowed);
  return 4 * high < 5 * low ? high : low;
}

}  // namespace

KvLayout kv_layout(const model::Architecture& m, precision::Format kv, std::int32_t tensor, std::int32_t block_size,
                   bool hybrid_groups) {
  const model::KvBytes bytes = model::kv_bytes(m, kv, tensor);
  const bool flash_mla_fp8 =
      m.attention.kind == model::AttentionKind::Mla && m.attention.indexer_heads > 0 && kv == precision::Format::Fp8;
  const std::int64_t layer =
      flash_mla_fp8 ? model::sparse_mla_fp8_bytes : model::kv_layer_bytes(m.attention, kv, tensor);
  const std::int64_t windowed = m.attention.window > 0 ? m.attention.windowed_layers : 0;
  const std::int64_t full = m.layers - windowed;
  KvLayout out;
  out.block_size = block_size;
  out.bytes_per_token = static_cast<double>(m.layers * layer + bytes.indexer);
  std::int64_t size = m.layers;
  if (hybrid_groups && windowed > 0) {
    size = full > 0 ? group_size(full, windowed) : windowed;
    out.full_groups = ceil_divide(full, size);
    out.windowed_groups = ceil_divide(windowed, size);
    out.window = m.attention.window;
    out.window_is_chunk = m.attention.window_is_chunk;
  }
  out.block_bytes = static_cast<double>(block_size * (size * layer + bytes.indexer));
  return out;
}

std::int64_t blocks_held(const KvLayout& layout, std::int64_t tokens) {
  const std::int64_t all = ceil_divide(tokens, layout.block_size);
  if (layout.windowed_groups == 0) return layout.full_groups * all;
  // The next token still sees this one.
  const std::int64_t first = layout.window_is_chunk ? (tokens - 1) / layout.window * layout.window
                                                    : std::max<std::int64_t>(0, tokens - layout.window + 1);
  return layout.full_groups * all + layout.windowed_groups * (all - std::min(all, first / layout.block_size));
}

std::int64_t blocks_of(const KvLayout& layout, std::int64_t tokens, std::int64_t in_flight) {
  const std::int64_t all = ceil_divide(tokens, layout.block_size);
  if (layout.windowed_groups == 0) return layout.full_groups * all;
  // A sliding window touches one block more than it fills because it need not start at a block's edge.
  const std::int64_t reach = layout.window_is_chunk ? layout.window : layout.window - 1;
  const std::int64_t resident =
      ceil_divide(std::min(reach + in_flight, tokens), layout.block_size) + (layout.window_is_chunk ? 0 : 1);
  return layout.full_groups * all + layout.windowed_groups * std::min(all, resident);
}

}  // namespace servecast::scenario
