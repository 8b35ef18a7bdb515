// Bytes of KV cache that one token costs, exact integers. The latent of MLA is replicated on every tensor-parallel
// rank; KV heads are replicated when there are more ranks than heads. Layers with a window stop growing beyond it, so
// the two rates are told apart. Allocation in blocks, groups and padding belongs to the engine's memory, not here.
#pragma once

#include "model/architecture.hpp"
#include "precision/format.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace servecast::model {

// Bytes of one token and layer in the layout that sparse-MLA kernels use for an FP8 cache: 512 FP8 + 16 of scales + 64
// BF16 rotary elements. Specified: FlashMLA FP8 cache of DeepSeek-V3.2.
inline constexpr std::int64_t sparse_mla_fp8_bytes = 656;

struct KvBytes {
  std::int64_t per_token = 0;      // all layers, while inside every window
  std::int64_t beyond_window = 0;  // layers without a window only
  std::int64_t indexer = 0;        // keys of the sparse-attention indexer, beside per_token
  std::int64_t per_sequence = 0;   // whatever its length: recurrent states, an encoder's keys and values
};

// Why a format cannot hold this model's KV cache, or nothing. Legal: fp32, bf16, fp16, fp8, int8, and nvfp4 without
// MLA.
std::optional<std::string> kv_format_problem(const Attention& a, precision::Format format);
std::optional<std::string> kv_format_problem(const Architecture& m, precision::Format format);

// KV heads on one rank: max(1, kv_heads / tensor). Requires: tensor >= 1.
std::int32_t local_kv_heads(const Attention& a, std::int32_t tensor);

// One token in one layer on one rank. Requires: kv_format_problem() is empty, tensor >= 1.
std::int64_t kv_layer_bytes(const Attention& a, precision::Format format, std::int32_t tensor);

// One token's key in the indexer of one layer, whole on every rank.
std::int64_t indexer_bytes(const Attention& a);

// All layers of the model on one rank. FP8 with sparse MLA counts the plain 1-byte latent; engines that use the
// FlashMLA layout hold sparse_mla_fp8_bytes per layer instead.
KvBytes kv_bytes(const Architecture& m, precision::Format format, std::int32_t tensor);

}  // namespace servecast::model
