#include "cost/operators.hpp"

#include "cost/state_cost.hpp"
#include "model/blocks.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost {
namespace {

using precision::Format;

constexpr double act = 2.0;             // bytes of an activation between kernels: BF16
constexpr double logit = 4.0;           // sampler works in FP32
constexpr double sampler_passes = 3.0;  // assumed: temperature with rejection sampling, 3-4 passes (SPEC 2.4)

// Shorthand over one input; local widths carry the suffix of the rank.
struct Shape {
  const OperatorInput& in;
  const model::Architecture& a;
  model::Blocks blocks;
  double hidden, tensor;

  explicit Shape(const OperatorInput& i)
      : in(i), a(i.architecture), blocks(model::blocks_of(a)), hidden(a.hidden), tensor(i.tensor) {}

  double halves() const { return blocks.mixers() + blocks.feed_forwards(); }
  MatrixMath math(Format weights) const {
    return matrix_math(weights, in.precision.activations, in.gpu, in.efficiency);
  }

  Operator gemm(std::string_view name, double count, double n, double k, Format weights) const {
    const MatrixMath m = math(weights);
    return {name, Kind::Gemm, count, 2.0 * n * k, n * k * m.weight_bytes, k * m.activation_bytes + n * act, 0, 0,
            m,    n,          k,     weights};
  }
  Operator small(std::string_view name, double count, double unit_bytes) const {
    return {name, Kind::Small, count, 0, 0, unit_bytes, 0, 0, {}, 0, 0, Format::BFloat16};
  }
  Operator collective(std::string_view name, Kind kind, double count, double unit_bytes) const {
    return {name, kind, count, 0, 0, unit_bytes, 0, 0, {}, 0, 0, Format::BFloat16};
  }
};

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

void add_mlp(std::vector<Operator>& ops, const Shape& s, std::string_view up, std::string_view down, double layers,
             double inner) {
  if (layers <= 0 || inner <= 0) return;
  const Format w = s.in.precision.weights.mlp;
  const double into = s.a.gated_mlp ? 2.0 : 1.0;
  ops.push_back(s.gemm(up, layers, into * inner, s.hidden, w));
  ops.push_back(s.small("activation", layers, (into + 1.0) * inner * act));
  ops.push_back(s.gemm(down, layers, s.hidden, inner, w));
}

Operator expert_gemm(const Shape& s, std::string_view name, double n, double k) {
  const model::Moe& m = *s.a.moe;
  Operator op = s.gemm(name, m.layers, n, k, s.in.precision.weights.experts);
  op.kind = Kind::Experts;
  op.experts = m.experts;
  op.top_k = m.top_k;
  return op;
}

void add_moe(std::vector<Operator>& ops, const Shape& s) {
  const model::Moe& m = *s.a.moe;
  const double inner = m.intermediate / s.tensor;
  const double copies = m.top_k;
  const double into = s.a.gated_mlp ? 2.0 : 1.0;
  const double width = m.latent > 0 ? m.latent : s.hidden;
  ops.push_back(s.gemm("router", m.layers, m.experts, s.hidden, s.in.precision.weights.router));
  ops.push_back(s.small("expert choice", m.layers, m.experts * (act + logit)));
  if (m.latent > 0)
    ops.push_back(s.gemm("latent down projection", m.layers, width, s.hidden, s.in.precision.weights.mlp));
  ops.push_back(s.small("expert permutation", m.layers, (1.0 + copies) * width * act));
  ops.push_back(expert_gemm(s, "experts gate and up", into * inner, width));
  ops.push_back(s.small("expert activation", m.layers, copies * (into + 1.0) * inner * act));
  ops.push_back(expert_gemm(s, "experts down", width, inner));
  ops.push_back(s.small("expert combination", m.layers, (1.0 + copies) * width * act));
  if (m.latent > 0)
    ops.push_back(s.gemm("latent up projection", m.layers, s.hidden, width, s.in.precision.weights.mlp));
  add_mlp(ops, s, "shared expert gate and up", "shared expert down", m.layers, m.shared_intermediate / s.tensor);
}

// Of a block whose mixer and feed forward each count half; where blocks lack one, of their mean.
double quantised_classes(const Shape& s, Rate rate) {
  const model::TensorFormats& w = s.in.precision.weights;
  const bool moe = s.a.moe && s.a.moe->layers > 0;
  const bool attention = s.math(w.attention).rate == rate;
  const bool feed_forward = s.math(moe ? w.experts : w.mlp).rate == rate;
  return (attention ? 0.5 * s.blocks.mixers() / s.a.layers : 0.0) +
         (feed_forward ? 0.5 * s.blocks.feed_forwards() / s.a.layers : 0.0);
}

void add_quantisation(std::vector<Operator>& ops, const Shape& s) {
  const HostConstants& h = s.in.host;
  const double per_layer = h.quantise_kernels_fp4 * quantised_classes(s, Rate::Fp4) +
                           h.quantise_kernels_fp8 * quantised_classes(s, Rate::Fp8);
  if (per_layer <= 0) return;
  const double bytes = act + precision::activation_bytes(s.in.precision.activations);
  ops.push_back(s.small("activation quantisation", s.a.layers * per_layer, s.hidden * bytes));
}

// One after each half of a block and one after the embedding.
void add_collectives(std::vector<Operator>& ops, const Shape& s) {
  if (s.in.tensor == 1) return;
  ops.push_back(s.collective("all-reduce", Kind::AllReduce, s.halves() + 1.0, s.hidden * act));
  double normed = 0;
  for (const model::AttentionBlocks& g : s.blocks.attention) normed += g.attention->qk_norm_all_heads ? g.count : 0;
  // The mean square of q and of k over all heads: one FP32 each per token.
  if (normed > 0) ops.push_back(s.collective("q and k norm all-reduce", Kind::AllReduce, 2.0 * normed, logit));
}

double share(const Operator& op, double blend, double m) { return gemm_share(op.math.efficiency, blend, m); }

// Grouped GEMM with tokens spread evenly: every expert that is hit reads its weights, and its rows round up to tiles,
// half a tile each on average beyond the first. The efficiency is that of the rounded rows of one expert.
void experts_time(const Operator& op, double tokens, const Device& d, OperatorTime& t) {
  const double copies = tokens * op.top_k;
  const double hit = distinct_experts(op.experts, op.top_k, tokens);
  const double tile = d.efficiency.expert_tile;
  const double rows = std::max(hit * tile, copies + hit * tile * 0.5);
  t.flops = op.flops * copies;
  t.bytes = hit * op.weight_bytes + copies * op.unit_bytes;
  t.compute_s = op.flops * rows / (op.math.flops_per_s * share(op, d.efficiency.blend_tokens, rows / hit));
  t.memory_s = t.bytes / (d.hbm_bytes_per_s * op.math.efficiency.streaming);
  t.floor_s = op.math.efficiency.floor_us * 1e-6;
}

void gemm_time(const Operator& op, double rows, const Device& d, OperatorTime& t) {
  t.flops = op.flops * rows;
  t.bytes = op.weight_bytes + op.unit_bytes * rows;
  t.compute_s = t.flops / (op.math.flops_per_s * share(op, d.efficiency.blend_tokens, rows));
  t.memory_s = t.bytes / (d.hbm_bytes_per_s * op.math.efficiency.streaming);
  t.floor_s = op.math.efficiency.floor_us * 1e-6;
}

void collective_time(const Operator& op, double units, const Device& d, OperatorTime& t) {
  const double bytes = op.unit_bytes * units;
  const fabric::Collective c =
      op.kind == Kind::AllReduce ? fabric::all_reduce(d.group, bytes) : fabric::all_gather(d.group, bytes);
  t.latency_s = c.latency_s;
  t.bandwidth_s = c.bandwidth_s;
  t.bytes_sent = c.bytes_sent;
}

void scale(OperatorTime& t, double count) {
  for (double* v :
       {&t.flops, &t.bytes, &t.compute_s, &t.memory_s, &t.floor_s, &t.latency_s, &t.bandwidth_s, &t.bytes_sent}) {
    *v *= count;
  }
}

}  // namespace

namespace {

// A fused all-reduce takes the norm that follows it along; only the first norm of all follows none.
double norms(const Shape& s) {
  const double all = std::max(s.halves() / 2, static_cast<double>(s.blocks.norms));
  if (!s.in.host.fused_all_reduce_norm || s.in.tensor == 1) return all;
  return std::max(1.0, all - s.halves() + 1.0);
}

}  // namespace

std::vector<Operator> token_operators(const OperatorInput& in) {
  const Shape s(in);
  std::vector<Operator> ops;
  const double element = precision::bytes_per_element(in.precision.weights.embedding);
  ops.push_back(s.small("embedding", 1, s.hidden * (element + act)));
  // Residual addition fused: reads two streams, writes two. Norms of q and k are counted with their projections.
  ops.push_back(s.small("norm", norms(s), 4.0 * s.hidden * act));
  add_attention(ops, s);
  add_state(ops, s);
  for (const model::DenseBlocks& g : s.blocks.dense)
    add_mlp(ops, s, "mlp gate and up", "mlp down", g.count, g.width / s.tensor);
  if (in.architecture.moe && in.architecture.moe->layers > 0) add_moe(ops, s);
  add_quantisation(ops, s);
  add_collectives(ops, s);
  return ops;
}

std::vector<Operator> row_operators(const OperatorInput& in) {
  const Shape s(in);
  const double vocab = in.architecture.vocab;
  std::vector<Operator> ops;
  ops.push_back(s.small("final norm", 1, 4.0 * s.hidden * act));
  ops.push_back(s.gemm("lm head", 1, vocab / s.tensor, s.hidden, in.precision.weights.lm_head));
  ops.push_back(s.small("sampler", 1, sampler_passes * vocab * logit));
  if (in.tensor > 1) ops.push_back(s.collective("logits gather", Kind::AllGather, 1, vocab * act));
  return ops;
}

OperatorTime evaluate(const Operator& op, double units, const Device& device, bool graph) {
  OperatorTime t;
  if (units <= 0) return t;
  switch (op.kind) {
    case Kind::Gemm: gemm_time(op, units, device, t); break;
    case Kind::Experts: experts_time(op, units, device, t); break;
    case Kind::Small:
      t.bytes = op.unit_bytes * units;
      t.memory_s = t.bytes / (device.hbm_bytes_per_s * device.efficiency.elementwise);
      t.floor_s = device.small_kernel_s;
      break;
    case Kind::AllReduce:
    case Kind::AllGather: collective_time(op, units, device, t); break;
  }
  if (!graph) t.floor_s += std::max(0.0, device.efficiency.eager_launch_us * 1e-6 - t.total_s());
  scale(t, op.count);
  return t;
}

double distinct_experts(std::int32_t experts, std::int32_t top_k, double tokens) {
  const double missed = 1.0 - static_cast<double>(top_k) / experts;
  return experts * (1.0 - std::pow(missed, tokens));
}

double gemm_share(const GemmEfficiency& g, double blend_tokens, double m) {
  return g.small + (g.large - g.small) * m / (m + blend_tokens);
}

}  // namespace servecast::cost
