// Weight bytes on one GPU by tensor class, as engines lay them out: heads and MLP columns split over tensor ranks, KV
// heads replicated when they run out, MLA down projections, routers and norms replicated, vocabulary padded, experts
// split over tensor x data. Bytes are those of the heaviest rank of a stage. Multi-token-prediction layers and vision
// towers are not counted.
#pragma once

#include "model/blocks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::model {

// How an engine pads. vocab: vLLM rounds the vocabulary up to 64. Experts: kernels for MXFP4 on GPUs without FP4 units
// want whole tiles.
struct Padding {
  std::int32_t vocab_multiple = 64;
  std::int32_t expert_hidden_multiple = 1;
  std::int32_t expert_intermediate_multiple = 1;
  bool expert_scales = true;  // block scales are padded along with the elements
};

// Padding of gpt-oss's MXFP4 experts (hidden 2880 -> 3072, scales as they are) on GPUs without FP4 units. Derived: with
// it the weights of gpt-oss-120b and -20b are 64.33 and 13.41 GiB, logged 64.38 and 13.47 (vLLM 0.11, H100), which
// include some 0.03 GiB of rotary tables.
Padding mxfp4_expert_padding();

// Degrees of parallelism that share weights. Experts are divided by `expert` ranks, and each split tensor-wise over
// tensor x data / expert.
struct Shard {
  std::int32_t tensor = 1;
  std::int32_t data = 1;
  std::int32_t expert = 1;
  LayerRange layers;
  Padding padding;
};

struct WeightBytes {
  std::int64_t attention = 0;  // and other mixers
  std::int64_t mlp = 0;        // dense MLP and shared experts
  std::int64_t experts = 0;
  std::int64_t router = 0;
  std::int64_t norms = 0;    // on the residual stream
  std::int64_t lm_head = 0;  // 0 when tied, unless embedding and head sit on different stages
  std::int64_t embedding = 0;
  std::int64_t total() const { return attention + mlp + experts + router + norms + lm_head + embedding; }
};

// Why the model cannot be split that way, or nothing.
std::optional<std::string> shard_problem(const Architecture& m, const Shard& s);

// Requires: shard_problem() is empty.
WeightBytes weight_bytes(const Architecture& m, const TensorFormats& formats, const Shard& s);

// Bytes of the BF16 copies of the latent's up projection that engines keep for absorbed MLA decoding; 0 without MLA.
std::int64_t absorbed_mla_bytes(const Architecture& m, const Shard& s);

// The checkpoint's formats with every quantisable class (attention, MLP, experts) replaced: what an engine's online
// quantisation or a quantised copy gives. Router, LM head and embedding keep theirs.
TensorFormats quantised(const TensorFormats& checkpoint, precision::Format weights);

// Blocks whose feed-forward part is kept in the same formats.
struct FeedForwardGroup {
  precision::Format mlp = precision::Format::BFloat16;  // dense MLP and shared experts
  precision::Format experts = precision::Format::BFloat16;
  std::int32_t moe_layers = 0;
  std::vector<DenseBlocks> dense;  // by width

  std::int32_t dense_layers() const;
};

// Groups of a range, in order of the first block of each; one group unless formats choose by block.
std::vector<FeedForwardGroup> feed_forward_groups(const Architecture& m, const TensorFormats& formats,
                                                  const LayerRange& range);

}  // namespace servecast::model
