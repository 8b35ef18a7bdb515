// Kernels of what mixes tokens: attention's projections, a state's.
#include "cost/operator_shape.hpp"
#include "cost/state_cost.hpp"
#include "precision/format.hpp"

#include <algorithm>

namespace servecast::cost {
namespace {

using precision::Format;

void add_gqa(std::vector<Operator>& ops, const Shape& s, const model::AttentionBlocks& g) {
  const model::Attention& t = *g.attention;
  const Format w = s.in.precision.weights.attention;
  const double heads = t.heads / s.tensor;
  const double kv_heads = std::max(1.0, t.kv_heads / s.tensor);
  const double query = heads * t.head_dim;
  const double result = heads * model::value_width(t);
  // Keys and values of cross attention are projected once per request, from the encoder's output.
  const double key = g.cross ? 0.0 : kv_heads * t.head_dim;
  const double value = g.cross ? 0.0 : kv_heads * model::value_width(t);
  const double stored = t.values_are_keys ? key : key + value;
  const double gate = t.output_gate ? result : 0.0;
  const double blocks = g.count;
  ops.push_back(
      s.gemm(g.cross ? "cross query projection" : "qkv projection", blocks, query + gate + stored, s.hidden, w));
  if (t.qk_norm || t.qk_norm_all_heads) ops.push_back(s.small("q and k norm", blocks, 2.0 * (query + key) * act));
  if (!g.cross) {
    ops.push_back(s.small("rope", blocks, 2.0 * (query + key) * act));
    ops.push_back(
        s.small("kv write", blocks, (key + value) * (act + precision::bytes_per_element(s.in.precision.kv_cache))));
  }
  ops.push_back(s.gemm("output projection", blocks, s.hidden, result, w));
}

void add_indexer(std::vector<Operator>& ops, const Shape& s, const model::Attention& t, double blocks) {
  if (t.indexer_heads == 0) return;
  const Format w = s.in.precision.weights.attention;
  const double wide = t.indexer_heads * static_cast<double>(t.indexer_dim);
  const double rank = t.q_lora_rank > 0 ? t.q_lora_rank : s.hidden;
  ops.push_back(s.gemm("indexer query projection", blocks, wide, rank, w));
  ops.push_back(s.gemm("indexer key projection", blocks, t.indexer_dim + t.indexer_heads, s.hidden, w));
}

void add_mla(std::vector<Operator>& ops, const Shape& s, const model::AttentionBlocks& g) {
  const model::Attention& t = *g.attention;
  const Format w = s.in.precision.weights.attention;
  const double heads = t.heads / s.tensor;
  const double blocks = g.count;
  const double query = heads * (t.qk_nope_dim + t.qk_rope_dim);
  const double latent = t.kv_lora_rank + t.qk_rope_dim;
  if (t.q_lora_rank > 0) {
    ops.push_back(s.gemm("q and kv down projection", blocks, t.q_lora_rank + latent, s.hidden, w));
    ops.push_back(s.gemm("q up projection", blocks, query, t.q_lora_rank, w));
  } else {
    ops.push_back(s.gemm("q and kv projection", blocks, query + latent, s.hidden, w));
  }
  add_indexer(ops, s, t, blocks);
  ops.push_back(s.small("latent norms", blocks, 2.0 * (t.q_lora_rank + t.kv_lora_rank) * act));
  ops.push_back(s.small("rope", blocks, 2.0 * (heads + 1.0) * t.qk_rope_dim * act));
  ops.push_back(s.small("kv write", blocks, latent * (act + precision::bytes_per_element(s.in.precision.kv_cache))));
  if (t.output_gate) ops.push_back(s.gemm("output gate projection", blocks, heads * t.v_dim, s.hidden, w));
  ops.push_back(s.gemm("output projection", blocks, s.hidden, heads * t.v_dim, w));
}

void add_attention(std::vector<Operator>& ops, const Shape& s) {
  for (const model::AttentionBlocks& g : s.blocks.attention)
    g.attention->kind == model::AttentionKind::Gqa ? add_gqa(ops, s, g) : add_mla(ops, s, g);
}

// Projections of a state mixer, and the kernels that every token passes through; reading and writing the states is
// in state_cost.hpp.
void add_state(std::vector<Operator>& ops, const Shape& s) {
  if (s.blocks.state == 0) return;
  const Format w = s.in.precision.weights.attention;
  const double blocks = s.blocks.state;
  const StateWork work = state_work(*s.a.state, s.in.tensor);
  for (const StateProjection& p : state_projections(*s.a.state, s.hidden, s.in.tensor))
    ops.push_back(s.gemm(p.name, blocks, p.n, p.k, w));
  ops.push_back(s.small("state convolution", blocks, work.convolution_elements * act));
  ops.push_back(s.small("state update", blocks, work.update_elements * act));
  ops.push_back(s.small("gated norm", blocks, work.norm_elements * act));
}

}  // namespace

void add_mixers(std::vector<Operator>& ops, const Shape& s) {
  add_attention(ops, s);
  add_state(ops, s);
}

}  // namespace servecast::cost
