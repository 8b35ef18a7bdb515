#include "model/footprint.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "model/kv_bytes.hpp"
#include "precision/format.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

using precision::Format;
using precision::matrix_bytes;
using Count = std::int64_t;

constexpr Count vector_element_bytes = 2;  // biases, norms and sinks are kept in 16 bits

Count round_up(Count n, Count multiple) { return (n + multiple - 1) / multiple * multiple; }
Count ceil_divide(Count a, Count b) { return (a + b - 1) / b; }

Count gqa_bytes(const Architecture& m, const TensorFormats& formats, Count tensor) {
  const Format f = formats.attention;
  const Format output = formats.attention_output.value_or(f);
  const Attention& a = m.attention;
  const Count query = a.heads / tensor * a.head_dim;
  const Count key = Count{local_kv_heads(a, static_cast<std::int32_t>(tensor))} * a.head_dim;
  Count bytes = matrix_bytes(f, query + 2 * key, m.hidden) + matrix_bytes(output, m.hidden, query);
  if (a.output_gate) bytes += matrix_bytes(f, query, m.hidden);
  Count vectors = 0;
  if (a.qkv_bias) vectors += query + 2 * key;
  if (a.output_bias) vectors += m.hidden;
  if (a.qk_norm) vectors += 2 * Count{a.head_dim};
  if (a.qk_norm_all_heads) vectors += query + key;
  if (a.sinks) vectors += a.heads / tensor;
  return bytes + vectors * vector_element_bytes;
}

Count mla_bytes(const Architecture& m, const TensorFormats& formats, Count tensor) {
  const Format f = formats.attention;
  const Format output = formats.attention_output.value_or(f);
  const Attention& a = m.attention;
  const Count heads = a.heads / tensor;
  const Count query = heads * (a.qk_nope_dim + a.qk_rope_dim);
  Count bytes = a.q_lora_rank > 0 ? matrix_bytes(f, a.q_lora_rank, m.hidden) + matrix_bytes(f, query, a.q_lora_rank)
                                  : matrix_bytes(f, query, m.hidden);
  bytes += matrix_bytes(f, a.kv_lora_rank + a.qk_rope_dim, m.hidden);
  bytes += matrix_bytes(f, heads * (a.qk_nope_dim + a.v_dim), a.kv_lora_rank);
  bytes += matrix_bytes(output, m.hidden, heads * a.v_dim);
  Count vectors = a.q_lora_rank + a.kv_lora_rank;
  if (a.indexer_heads > 0) {
    bytes += matrix_bytes(f, Count{a.indexer_heads} * a.indexer_dim, a.q_lora_rank);
    bytes += matrix_bytes(f, a.indexer_dim, m.hidden);
    bytes += matrix_bytes(Format::BFloat16, a.indexer_heads, m.hidden);
    vectors += 2 * Count{a.indexer_dim};
  }
  return bytes + vectors * vector_element_bytes;
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
  const Count hidden = round_up(m.hidden, s.padding.expert_hidden_multiple);
  const Count width = expert_width(e, s);
  Count one = mlp_bytes(f, hidden, width, m.gated_mlp);
  if (!s.padding.expert_scales)
    one += mlp_scale_bytes(f, m.hidden, width, m.gated_mlp) - mlp_scale_bytes(f, hidden, width, m.gated_mlp);
  if (e.expert_bias) one += ((m.gated_mlp ? 2 : 1) * width + hidden) * vector_element_bytes;
  return ceil_divide(e.experts, s.expert) * one;
}

std::int32_t layers_in(const Architecture& m, const LayerRange& r) {
  return r.count < 0 ? m.layers - r.first : r.count;
}

void add_feed_forward(const Architecture& m, const FeedForwardGroup& g, const Shard& s, WeightBytes& w) {
  Count dense = mlp_bytes(g.mlp, m.hidden, m.intermediate / s.tensor, m.gated_mlp);
  if (m.mlp_bias) dense += ((m.gated_mlp ? 2 : 1) * Count{m.intermediate / s.tensor} + m.hidden) * vector_element_bytes;
  w.mlp += g.dense_layers * dense;
  if (!m.moe) return;
  w.mlp += g.moe_layers * mlp_bytes(g.mlp, m.hidden, m.moe->shared_intermediate / s.tensor, m.gated_mlp);
  if (m.moe->shared_gate) w.mlp += Count{g.moe_layers} * m.hidden * vector_element_bytes;
  w.experts += g.moe_layers * experts_bytes(m, g.experts, s);
}

void add_blocks(const Architecture& m, const TensorFormats& f, const Shard& s, WeightBytes& w) {
  const Count layers = layers_in(m, s.layers);
  const Count moe_layers = moe_layers_in(m, s.layers);
  const Count attention =
      m.attention.kind == AttentionKind::Mla ? mla_bytes(m, f, s.tensor) : gqa_bytes(m, f, s.tensor);
  const Count norm = (m.layer_norm_bias ? 2 : 1) * Count{m.hidden} * vector_element_bytes;
  w.attention = layers * attention;
  w.norms = layers * m.norms_per_layer * norm;
  for (const FeedForwardGroup& g : feed_forward_groups(m, f, s.layers)) add_feed_forward(m, g, s, w);
  if (!m.moe) return;
  w.router = moe_layers * (matrix_bytes(f.router, m.moe->experts, m.hidden) +
                           (m.moe->router_bias ? m.moe->experts * vector_element_bytes : 0));
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
  if (m.attention.heads % s.tensor != 0) {
    return fmt::format("tensor {} does not divide {}", s.tensor, core::counted(m.attention.heads, "attention head"));
  }
  const std::int32_t kv_heads = m.attention.kv_heads;
  if (m.attention.kind == AttentionKind::Gqa && kv_heads % s.tensor != 0 && s.tensor % kv_heads != 0) {
    return fmt::format("tensor {} neither divides nor is a multiple of {} KV heads", s.tensor, kv_heads);
  }
  if (m.intermediate % s.tensor != 0) {
    return fmt::format("tensor {} does not divide the MLP width {}", s.tensor, m.intermediate);
  }
  const LayerRange& r = s.layers;
  if (r.first < 0 || r.first >= m.layers || r.first + layers_in(m, r) > m.layers) {
    return fmt::format("layers {} to {} are outside the model's {}", r.first, r.first + layers_in(m, r), m.layers);
  }
  return moe_problem(m, s);
}

std::int32_t moe_layers_in(const Architecture& m, const LayerRange& range) {
  if (!m.moe) return 0;
  const std::int32_t end = range.first + layers_in(m, range);
  if (m.moe_interleaved) return end / 2 - range.first / 2;  // blocks 1, 3, 5 ... have experts
  return std::max(0, end - std::max(range.first, m.dense_layers));
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
  const Attention& a = m.attention;
  if (a.kind != AttentionKind::Mla) return 0;
  const Count heads = a.heads / s.tensor;
  return layers_in(m, s.layers) * heads * (a.qk_nope_dim + a.v_dim) * a.kv_lora_rank * vector_element_bytes;
}

std::vector<FeedForwardGroup> feed_forward_groups(const Architecture& m, const TensorFormats& formats,
                                                  const LayerRange& range) {
  const std::int32_t end = range.first + layers_in(m, range);
  if (formats.feed_forward.empty()) {
    const std::int32_t moe = moe_layers_in(m, range);
    return {{formats.mlp, formats.experts, end - range.first - moe, moe}};
  }
  SERVECAST_ENSURE(static_cast<std::int32_t>(formats.feed_forward.size()) == m.layers, "{} formats for {} blocks",
                   formats.feed_forward.size(), m.layers);
  std::vector<FeedForwardGroup> groups;
  for (std::int32_t i = range.first; i < end; ++i) {
    const Format format = formats.feed_forward[static_cast<std::size_t>(i)];
    const auto same = [format](const FeedForwardGroup& g) { return g.mlp == format; };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), {format, format, 0, 0});
    const bool moe = moe_layers_in(m, {i, 1}) > 0;
    group->moe_layers += moe ? 1 : 0;
    group->dense_layers += moe ? 0 : 1;
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
