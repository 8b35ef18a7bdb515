#include "model/kv_bytes.hpp"

#include "core/error.hpp"
#include "model/blocks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

using precision::Format;

// Indexer keys are FP8 with one FP32 scale per token (DeepSeek-V3.2 report).
constexpr std::int64_t indexer_scale_bytes = 4;

// Engines that hold an int8 cache scale each head of each token by an FP32 number; FP8 caches have per-tensor scales.
constexpr std::int64_t int8_head_scale_bytes = 4;

// NVFP4 packs two elements per byte and adds one scale byte per 16.
std::int64_t vector_bytes(Format format, std::int64_t width) {
  switch (format) {
    case Format::Float32: return width * 4;
    case Format::BFloat16:
    case Format::Float16: return width * 2;
    case Format::Fp8: return width;
    case Format::Int8: return width + int8_head_scale_bytes;
    case Format::Nvfp4: return (width + 1) / 2 + (width + 15) / 16;
    default: break;
  }
  SERVECAST_ENSURE(false, "{} is no KV format", precision::name(format));
  return 0;
}

}  // namespace

std::int64_t indexer_bytes(const Attention& a) { return a.indexer_dim + indexer_scale_bytes; }

std::optional<std::string> kv_format_problem(const Architecture& m, Format format) {
  for (const AttentionBlocks& g : blocks_of(m).attention)
    if (auto problem = kv_format_problem(*g.attention, format)) return problem;
  return std::nullopt;
}

std::optional<std::string> kv_format_problem(const Attention& a, Format format) {
  switch (format) {
    case Format::Float32:
    case Format::BFloat16:
    case Format::Float16:
    case Format::Fp8: return std::nullopt;
    case Format::Int8:
    case Format::Nvfp4:
      if (a.kind == AttentionKind::Gqa) return std::nullopt;
      return fmt::format("{} is not supported for the latent cache of mla attention; use bf16 or fp8",
                         precision::name(format));
    default:
      return fmt::format("{} is no KV cache format; use bf16, fp16, fp8, int8 or nvfp4", precision::name(format));
  }
}

std::int32_t local_kv_heads(const Attention& a, std::int32_t tensor) { return std::max(1, a.kv_heads / tensor); }

std::int64_t kv_layer_bytes(const Attention& a, Format format, std::int32_t tensor) {
  SERVECAST_ENSURE(tensor >= 1, "tensor {}", tensor);
  if (a.kind == AttentionKind::Mla) return vector_bytes(format, a.kv_lora_rank + a.qk_rope_dim);
  return std::int64_t{local_kv_heads(a, tensor)} *
         (vector_bytes(format, a.head_dim) + vector_bytes(format, value_width(a)));
}

KvBytes kv_bytes(const Architecture& m, Format format, std::int32_t tensor) {
  const Blocks blocks = blocks_of(m);
  KvBytes b;
  for (const AttentionBlocks& g : blocks.attention) {
    const std::int64_t layer = kv_layer_bytes(*g.attention, format, tensor);
    if (g.cross) {
      b.per_sequence += g.count * layer * m.encoder_tokens;
      continue;
    }
    b.per_token += g.count * layer;
    b.beyond_window += (g.count - g.windowed) * layer;
    if (g.attention->indexer_heads > 0) b.indexer += g.count * indexer_bytes(*g.attention);
  }
  if (m.state) b.per_sequence += blocks.state * state_bytes(*m.state, tensor);
  return b;
}

}  // namespace servecast::model
