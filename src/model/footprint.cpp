#include "model/footprint.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "model/kv_bytes.hpp"
#include "precision/format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace servecast::model {
namespace {

using precision::Format;
using precision::matrix_bytes;
using Count = std::int64_t;

constexpr Count vector_element_bytes = 2;  // biases, norms and sinks are kept in 16 bits

Count round_up(Count n, Count multiple) { return (n + multiple - 1) / multiple * multiple; }
Count ceil_divide(Count a, Count b) { return (a + b - 1) / b; }

Count gqa_bytes(const Architecture& m, const Attention& a, const TensorFormats& formats, Count tensor) {
  const Format f = formats.attention;
  const Format output = formats.attention_output.value_or(f);
  const Count query = a.heads / tensor * a.head_dim;
  const Count result = a.heads / tensor * value_width(a);
  const Count kv_heads = local_kv_heads(a, static_cast<std::int32_t>(tensor));
  const Count key = kv_heads * a.head_dim;
  const Count stored = a.values_are_keys ? key : key + kv_heads * value_width(a);
  Count bytes = matrix_bytes(f, query + stored, m.hidden) + matrix_bytes(output, m.hidden, result);
  if (a.output_gate) bytes += matrix_bytes(f, result, m.hidden);
  Count vectors = 0;
  if (a.qkv_bias) vectors += query + stored;
  if (a.output_bias) vectors += m.hidden;
  if (a.qk_norm) vectors += 2 * Count{a.head_dim};
  if (a.qk_norm_all_heads) vectors += query + key;
  if (a.sinks) vectors += a.heads / tensor;
  return bytes + vectors * vector_element_bytes;
}

Count mla_bytes(const Architecture& m, const Attention& a, const TensorFormats& formats, Count tensor) {
  const Format f = formats.attention;
  const Format output = formats.attention_output.value_or(f);
  const Count heads = a.heads / tensor;
  const Count query = heads * (a.qk_nope_dim + a.qk_rope_dim);
  Count bytes = a.q_lora_rank > 0 ? matrix_bytes(f, a.q_lora_rank, m.hidden) + matrix_bytes(f, query, a.q_lora_rank)
                                  : matrix_bytes(f, query, m.hidden);
  bytes += matrix_bytes(f, a.kv_lora_rank + a.qk_rope_dim, m.hidden);
  bytes += matrix_bytes(f, heads * (a.qk_nope_dim + a.v_dim), a.kv_lora_rank);
  bytes += matrix_bytes(output, m.hidden, heads * a.v_dim);
  if (a.output_gate) bytes += matrix_bytes(f, heads * a.v_dim, m.hidden);
  Count vectors = a.q_lora_rank + a.kv_lora_rank;
  if (a.indexer_heads > 0) {
    bytes += matrix_bytes(f, Count{a.indexer_heads} * a.indexer_dim, a.q_lora_rank);
    bytes += matrix_bytes(f, a.indexer_dim, m.hidden);
    bytes += matrix_bytes(Format::BFloat16, a.indexer_heads, m.hidden);
    vectors += 2 * Count{a.indexer_dim};
  }
  return bytes + vectors * vector_element_bytes;
}

Count attention_bytes(const Architecture& m, const Attention& a, const TensorFormats& formats, Count tensor) {
  return a.kind == AttentionKind::Mla ? mla_bytes(m, a, formats, tensor) : gqa_bytes(m, a, formats, tensor);
}

// An MLP of the given local width. Up and gate projections are one fused matrix.
Count mlp_bytes(Format f, Count hidden, Count width, bool gated) {
  return matrix_bytes(f, (gated ? 2 : 1) * width, hidden) + matrix_bytes(f, hidden, width);
}

Count expert_width(const Moe& e, const Shard& s) {
  const Count split = Count{s.tensor} * s.data / s.expert;
  return round_up(ceil_divide(e.intermediate, split), s.padding.expert_intermediate_multiple);
}

Count mlp_scale_bytes(Format f, Count hidden, Count width, bool gated) {
  return precision::scale_bytes(f, (gated ? 2 : 1) * width, hidden) + precision::scale_bytes(f, hidden, width);
}

Count experts_bytes(const Architecture& m, Format f, const Shard& s) {
  const Moe& e = *m.moe;
  const Count unpadded = e.latent > 0 ? e.latent : m.hidden;
  const Count hidden = round_up(unpadded, s.padding.expert_hidden_multiple);
  const Count width = expert_width(e, s);
  Count one = mlp_bytes(f, hidden, width, m.gated_mlp);
  if (!s.padding.expert_scales)
    one += mlp_scale_bytes(f, unpadded, width, m.gated_mlp) - mlp_scale_bytes(f, hidden, width, m.gated_mlp);
  if (e.expert_bias) one += ((m.gated_mlp ? 2 : 1) * width + hidden) * vector_element_bytes;
  return ceil_divide(e.experts, s.expert) * one;
}

Count dense_bytes(const Architecture& m, Format f, Count width) {
  Count bytes = mlp_bytes(f, m.hidden, width, m.gated_mlp);
  if (m.mlp_bias) bytes += ((m.gated_mlp ? 2 : 1) * width + m.hidden) * vector_element_bytes;
  return bytes;
}

// Latent projections are whole on every rank.
void add_feed_forward(const Architecture& m, const FeedForwardGroup& g, const Shard& s, WeightBytes& w) {
  for (const DenseBlocks& d : g.dense) w.mlp += d.count * dense_bytes(m, g.mlp, d.width / s.tensor);
  if (!m.moe) return;
  const Moe& e = *m.moe;
  const Count blocks = g.moe_layers;
  w.mlp += blocks * mlp_bytes(g.mlp, m.hidden, e.shared_intermediate / s.tensor, m.gated_mlp);
  if (e.latent > 0)
    w.mlp += blocks * (matrix_bytes(g.mlp, e.latent, m.hidden) + matrix_bytes(g.mlp, m.hidden, e.latent));
  if (e.shared_gate) w.mlp += blocks * m.hidden * vector_element_bytes;
  w.experts += blocks * experts_bytes(m, g.experts, s);
}

void add_blocks(const Architecture& m, const TensorFormats& f, const Shard& s, WeightBytes& w) {
  const Blocks blocks = blocks_of(m, s.layers);
  for (const AttentionBlocks& g : blocks.attention)
    w.attention += g.count * attention_bytes(m, *g.attention, f, s.tensor);
  if (m.state) w.attention += blocks.state * state_weight_bytes(*m.state, m.hidden, f.attention, s.tensor);
  w.norms = blocks.norms * (m.layer_norm_bias ? 2 : 1) * Count{m.hidden} * vector_element_bytes;
  for (const FeedForwardGroup& g : feed_forward_groups(m, f, s.layers)) add_feed_forward(m, g, s, w);
  if (!m.moe) return;
  const Moe& e = *m.moe;
  w.router = blocks.experts *
             (matrix_bytes(f.router, e.experts, m.hidden) + (e.router_bias ? e.experts * vector_element_bytes : 0));
}

void add_ends(const Architecture& m, const TensorFormats& f, const Shard& s, WeightBytes& w) {
  const Count rows = ceil_divide(round_up(m.vocab, s.padding.vocab_multiple), s.tensor);
  const bool first = s.layers.first == 0;
  const bool last = s.layers.first + layers_in(m, s.layers) == m.layers;
  if (first) {
    w.embedding = matrix_bytes(f.embedding, rows, m.hidden);
    w.embedding += matrix_bytes(f.embedding, m.learned_positions, m.hidden);
  }
  if (last) {
    w.norms += (m.layer_norm_bias ? 2 : 1) * Count{m.hidden} * vector_element_bytes;
    if (!m.tied_embeddings) w.lm_head = matrix_bytes(f.lm_head, rows, m.hidden);
    if (m.tied_embeddings && !first) w.lm_head = matrix_bytes(f.embedding, rows, m.hidden);
  }
}

std::optional<std::string> attention_problem(const Attention& a, std::int32_t tensor) {
  if (a.heads % tensor != 0)
    return fmt::format("tensor {} does not divide {}", tensor, core::counted(a.heads, "attention head"));
  if (a.kind == AttentionKind::Gqa && a.kv_heads % tensor != 0 && tensor % a.kv_heads != 0)
    return fmt::format("tensor {} neither divides nor is a multiple of {} KV heads", tensor, a.kv_heads);
  return std::nullopt;
}

std::optional<std::string> state_split_problem(const StateMixer& s, std::int32_t tensor) {
  if (s.heads % tensor != 0)
    return fmt::format("tensor {} does not divide {}", tensor, core::counted(s.heads, "state head"));
  if (s.groups % tensor != 0 && tensor % s.groups != 0)
    return fmt::format("tensor {} neither divides nor is a multiple of {} groups of states", tensor, s.groups);
  return std::nullopt;
}

std::optional<std::string> moe_problem(const Architecture& m, const Shard& s) {
  const Count ranks = Count{s.tensor} * s.data;
  if (s.expert > 1 && !m.moe) return fmt::format("expert {} needs a mixture-of-experts model; use expert 1", s.expert);
  if (!m.moe) return std::nullopt;
  if (ranks % s.expert != 0) {
    return fmt::format("expert {} does not divide tensor x data = {} ranks", s.expert, ranks);
  }
  if (s.expert > m.moe->experts)
    return fmt::format("expert {} exceeds the model's {}", s.expert, core::counted(m.moe->experts, "expert"));
  const Count split = ranks / s.expert;
  if (m.moe->intermediate % split != 0) {
    return fmt::format("{} ranks per expert do not divide the expert width {}; raise expert", split,
                       m.moe->intermediate);
  }
  if (m.moe->shared_intermediate % s.tensor != 0) {
    return fmt::format("tensor {} does not divide the shared expert's width {}", s.tensor, m.moe->shared_intermediate);
  }
  return std::nullopt;
}

}  // namespace

Padding mxfp4_expert_padding() {
  Padding p;
  p.expert_hidden_multiple = 256;
  p.expert_scales = false;
  return p;
}

std::optional<std::string> shard_problem(const Architecture& m, const Shard& s) {
  if (s.tensor < 1 || s.data < 1 || s.expert < 1) return "parallel sizes start at 1";
  const Blocks blocks = blocks_of(m);
  for (const AttentionBlocks& g : blocks.attention)
    if (auto problem = attention_problem(*g.attention, s.tensor)) return problem;
  if (m.state && blocks.state > 0)
    if (auto problem = state_split_problem(*m.state, s.tensor)) return problem;
  for (const DenseBlocks& g : blocks.dense)
    if (g.width % s.tensor != 0) return fmt::format("tensor {} does not divide the MLP width {}", s.tensor, g.width);
  const LayerRange& r = s.layers;
  if (r.first < 0 || r.first >= m.layers || r.first + layers_in(m, r) > m.layers) {
    return fmt::format("layers {} to {} are outside the model's {}", r.first, r.first + layers_in(m, r), m.layers);
  }
  return moe_problem(m, s);
}

WeightBytes weight_bytes(const Architecture& m, const TensorFormats& formats, const Shard& s) {
  const std::optional<std::string> problem = shard_problem(m, s);
  SERVECAST_ENSURE(!problem, "{}", problem.value_or(""));
  WeightBytes w;
  add_blocks(m, formats, s, w);
  add_ends(m, formats, s, w);
  return w;
}

std::int64_t absorbed_mla_bytes(const Architecture& m, const Shard& s) {
  Count bytes = 0;
  for (const AttentionBlocks& g : blocks_of(m, s.layers).attention) {
    const Attention& a = *g.attention;
    if (a.kind != AttentionKind::Mla) continue;
    const Count heads = a.heads / s.tensor;
    bytes += g.count * heads * (a.qk_nope_dim + a.v_dim) * a.kv_lora_rank * vector_element_bytes;
  }
  return bytes;
}

std::int32_t FeedForwardGroup::dense_layers() const {
  std::int32_t n = 0;
  for (const DenseBlocks& d : dense) n += d.count;
  return n;
}

std::vector<FeedForwardGroup> feed_forward_groups(const Architecture& m, const TensorFormats& formats,
                                                  const LayerRange& range) {
  if (formats.feed_forward.empty()) {
    Blocks blocks = blocks_of(m, range);
    return {{formats.mlp, formats.experts, blocks.experts, std::move(blocks.dense)}};
  }
  SERVECAST_ENSURE(static_cast<std::int32_t>(formats.feed_forward.size()) == m.layers, "{} formats for {} blocks",
                   formats.feed_forward.size(), m.layers);
  std::vector<FeedForwardGroup> groups;
  for (std::int32_t i = range.first; i < range.first + layers_in(m, range); ++i) {
    const Blocks block = blocks_of(m, {i, 1});
    if (block.feed_forwards() == 0) continue;
    const Format format = formats.feed_forward[static_cast<std::size_t>(i)];
    const auto same = [format](const FeedForwardGroup& g) { return g.mlp == format; };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), {format, format, 0, {}});
    group->moe_layers += block.experts;
    for (const DenseBlocks& d : block.dense) add_dense(group->dense, d);
  }
  return groups;
}

TensorFormats quantised(const TensorFormats& checkpoint, Format weights) {
  TensorFormats f = checkpoint;
  f.feed_forward.clear();
  f.attention = weights;
  f.attention_output.reset();
  f.mlp = weights;
  f.experts = weights;
  return f;
}

}  // namespace servecast::model
