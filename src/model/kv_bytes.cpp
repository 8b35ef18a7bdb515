#include "model/kv_bytes.hpp"

#include "core/error.hpp"

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
  return 2 * std::int64_t{local_kv_heads(a, tensor)} * vector_bytes(format, a.head_dim);
}

KvBytes kv_bytes(const Architecture& m, Format format, std::int32_t tensor) {
  const std::int64_t layer = kv_layer_bytes(m.attention, format, tensor);
  KvBytes b;
  b.per_token = m.layers * layer;
  b.beyond_window = (m.layers - m.attention.windowed_layers) * layer;
  if (m.attention.indexer_heads > 0) b.indexer = m.layers * (m.attention.indexer_dim + indexer_scale_bytes);
  return b;
}

}  // namespace servecast::model
