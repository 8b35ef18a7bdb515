#include "model/parameters.hpp"

#include "model/blocks.hpp"

namespace servecast::model {
namespace {

using Count = std::int64_t;

Count gqa_parameters(Count hidden, const Attention& a) {
  const Count query = Count{a.heads} * a.head_dim;
  const Count key = Count{a.kv_heads} * a.head_dim;
  const Count value = Count{a.kv_heads} * value_width(a);
  const Count result = Count{a.heads} * value_width(a);
  const Count stored = a.values_are_keys ? key : key + value;
  Count n = hidden * (query + stored) + result * hidden;
  if (a.qkv_bias) n += query + stored;
  if (a.output_bias) n += hidden;
  if (a.qk_norm) n += 2 * Count{a.head_dim};
  if (a.qk_norm_all_heads) n += query + key;
  if (a.sinks) n += a.heads;
  if (a.output_gate) n += hidden * result;
  return n;
}

// Query and latent carry an RMSNorm each after their down projection. DeepSeek-V2 report, section 2.1; for the indexer
// DeepSeek-V3.2 report: query heads from the compressed query, one key head with a LayerNorm, one weight per head.
Count mla_parameters(Count hidden, const Attention& a) {
  const Count heads = a.heads;
  const Count query = heads * (a.qk_nope_dim + a.qk_rope_dim);
  const Count rank = a.kv_lora_rank;
  Count n = a.q_lora_rank > 0 ? (hidden + query + 1) * a.q_lora_rank : hidden * query;
  n += hidden * (rank + a.qk_rope_dim) + rank;
  n += rank * heads * (a.qk_nope_dim + a.v_dim);
  n += heads * a.v_dim * hidden;
  if (a.output_gate) n += heads * a.v_dim * hidden;
  if (a.indexer_heads > 0) {
    const Count dim = a.indexer_dim;
    n += a.q_lora_rank * a.indexer_heads * dim + hidden * dim + 2 * dim + hidden * a.indexer_heads;
  }
  return n;
}

Count mlp_parameters(Count hidden, Count width, bool gated, bool bias) {
  const Count matrices = gated ? 3 : 2;
  Count n = matrices * hidden * width;
  if (bias) n += (matrices - 1) * width + hidden;
  return n;
}

Count attention_parameters(Count hidden, const Attention& a) {
  return a.kind == AttentionKind::Mla ? mla_parameters(hidden, a) : gqa_parameters(hidden, a);
}

// Blocks that differ in their mixers and dense widths, summed.
Count block_parameters(const Architecture& a, const Blocks& b) {
  Count n = 0;
  for (const AttentionBlocks& g : b.attention) n += g.count * attention_parameters(a.hidden, *g.attention);
  for (const DenseBlocks& g : b.dense) n += g.count * mlp_parameters(a.hidden, g.width, a.gated_mlp, a.mlp_bias);
  if (a.state) n += b.state * state_parameters(*a.state, a.hidden);
  return n + b.norms * (a.layer_norm_bias ? 2 : 1) * Count{a.hidden};
}

}  // namespace

ParameterParts parameter_parts(const Architecture& a) {
  const Count hidden = a.hidden;
  const Count norm = a.layer_norm_bias ? 2 * hidden : hidden;
  ParameterParts p;
  p.attention = attention_parameters(hidden, a.attention);
  p.norms = a.norms_per_layer * norm;
  p.dense_mlp = mlp_parameters(hidden, a.intermediate, a.gated_mlp, a.mlp_bias);
  if (a.moe) {
    const Count latent = a.moe->latent;
    p.expert = mlp_parameters(latent > 0 ? latent : hidden, a.moe->intermediate, a.gated_mlp, a.moe->expert_bias);
    p.router = hidden * a.moe->experts + (a.moe->router_bias ? a.moe->experts : 0);
    p.shared = mlp_parameters(hidden, a.moe->shared_intermediate, a.gated_mlp, false);
    if (a.moe->shared_gate) p.shared += hidden;
    p.shared += 2 * latent * hidden;
  }
  p.final_norm = norm;
  p.embedding = (Count{a.vocab} + a.learned_positions) * hidden;
  p.lm_head = a.tied_embeddings ? 0 : Count{a.vocab} * hidden;
  return p;
}

Parameters count_parameters(const Architecture& a) {
  const ParameterParts p = parameter_parts(a);
  const Count moe_layers = a.moe ? a.moe->layers : 0;
  const Count top_k = a.moe ? a.moe->top_k : 0;
  const Count experts = a.moe ? a.moe->experts : 0;
  const Count common =
      block_parameters(a, blocks_of(a)) + moe_layers * (p.router + p.shared) + p.final_norm + p.embedding + p.lm_head;
  Parameters n;
  n.total = common + moe_layers * experts * p.expert;
  n.active = common + moe_layers * top_k * p.expert;
  n.active_without_embedding = n.active - p.embedding;
  return n;
}

}  // namespace servecast::model
