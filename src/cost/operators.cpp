#include "cost/operators.hpp"

#include "cost/operator_shape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace servecast::cost {
namespace {

using precision::Format;

constexpr double logit = 4.0;           // sampler works in FP32
constexpr double sampler_passes = 3.0;  // assumed: temperature with rejection sampling, 3-4 passes (SPEC 2.4)

struct MlpNames {
  std::string_view up, down;
};

void add_mlp(std::vector<Operator>& ops, const Shape& s, const MlpNames& names, double layers, double inner,
             const Shape::Operands& o) {
  if (layers <= 0 || inner <= 0) return;
  const double into = s.a.gated_mlp ? 2.0 : 1.0;
  ops.push_back(s.gemm(names.up, layers, into * inner, s.hidden, o));
  ops.push_back(s.small("activation", layers, (into + 1.0) * inner * act));
  ops.back().label = o.label;
  ops.push_back(s.gemm(names.down, layers, s.hidden, inner, o));
}

Operator expert_gemm(const Shape& s, std::string_view name, double n, double k, const FeedForward& ff) {
  const model::Moe& m = *s.a.moe;
  Operator op = s.gemm(name, ff.group.moe_layers, n, k, ff.experts());
  op.kind = Kind::Experts;
  op.experts = m.experts;
  op.top_k = m.top_k;
  return op;
}

void add_experts(std::vector<Operator>& ops, const Shape& s, const FeedForward& ff) {
  const model::Moe& m = *s.a.moe;
  const double layers = ff.group.moe_layers;
  const double inner = m.intermediate / s.tensor;
  const double copies = m.top_k;
  const double into = s.a.gated_mlp ? 2.0 : 1.0;
  const double width = m.latent > 0 ? m.latent : s.hidden;
  const auto small = [&](std::string_view name, double unit_bytes) {
    ops.push_back(s.small(name, layers, unit_bytes));
    ops.back().label = ff.label;
  };
  if (m.latent > 0) ops.push_back(s.gemm("latent down projection", layers, width, s.hidden, ff.mlp()));
  small("expert permutation", (1.0 + copies) * width * act);
  ops.push_back(expert_gemm(s, "experts gate and up", into * inner, width, ff));
  small("expert activation", copies * (into + 1.0) * inner * act);
  ops.push_back(expert_gemm(s, "experts down", width, inner, ff));
  small("expert combination", (1.0 + copies) * width * act);
  if (m.latent > 0) ops.push_back(s.gemm("latent up projection", layers, s.hidden, width, ff.mlp()));
  add_mlp(ops, s, {"shared expert gate and up", "shared expert down"}, layers, m.shared_intermediate / s.tensor,
          ff.mlp());
}

void add_moe(std::vector<Operator>& ops, const Shape& s, const std::vector<FeedForward>& groups) {
  const model::Moe& m = *s.a.moe;
  ops.push_back(s.gemm("router", m.layers, m.experts, s.hidden, s.in.precision.weights.router));
  ops.push_back(s.small("expert choice", m.layers, m.experts * (act + logit)));
  for (const FeedForward& ff : groups)
    if (ff.group.moe_layers > 0) add_experts(ops, s, ff);
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
  // The devices of one GPU reduce among themselves first; each then carries its share between GPUs.
  const double bytes = op.unit_bytes * units;
  const double share = bytes / d.ranks_per_gpu;
  const fabric::Collective c =
      op.kind == Kind::AllReduce ? fabric::all_reduce(d.group, share) : fabric::all_gather(d.group, share);
  t.latency_s = c.latency_s + d.die_latency_s;
  t.bandwidth_s = c.bandwidth_s + die_collective_s(bytes, d) - d.die_latency_s;
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

std::vector<FeedForward> feed_forward(const OperatorInput& in) {
  const model::TensorFormats& f = in.precision.weights;
  std::vector<FeedForward> out;
  for (const model::FeedForwardGroup& g : model::feed_forward_groups(in.architecture, f, {})) {
    if (f.feed_forward.empty())
      out.push_back({g, in.precision.activations, {}});
    else
      out.push_back({g, g.mlp, precision::name(g.mlp)});
  }
  return out;
}

std::string full_name(const Operator& op) {
  return op.label.empty() ? std::string(op.name) : fmt::format("{} {}", op.name, op.label);
}

std::vector<Operator> token_operators(const OperatorInput& in) {
  const Shape s(in);
  std::vector<Operator> ops;
  const double element = precision::bytes_per_element(in.precision.weights.embedding);
  ops.push_back(s.small("embedding", 1, s.hidden * (element + act)));
  // Residual addition fused: reads two streams, writes two. Norms of q and k are counted with their projections.
  ops.push_back(s.small("norm", norms(s), 4.0 * s.hidden * act));
  add_mixers(ops, s);
  const std::vector<FeedForward> groups = feed_forward(in);
  for (const FeedForward& ff : groups)
    for (const model::DenseBlocks& d : ff.group.dense)
      add_mlp(ops, s, {"mlp gate and up", "mlp down"}, d.count, d.width / s.tensor, ff.mlp());
  if (in.architecture.moe && in.architecture.moe->layers > 0) add_moe(ops, s, groups);
  add_conversions(ops, s, groups);
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
    case Kind::Convert:
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

double die_collective_s(double bytes, const Device& d) {
  return d.die_bytes_per_s > 0 ? d.die_latency_s + bytes / d.die_bytes_per_s : 0.0;
}

double distinct_experts(std::int32_t experts, std::int32_t top_k, double tokens) {
  const double missed = 1.0 - static_cast<double>(top_k) / experts;
  return experts * (1.0 - std::pow(missed, tokens));
}

double gemm_share(const GemmEfficiency& g, double blend_tokens, double m) {
  return g.small + (g.large - g.small) * m / (m + blend_tokens);
}

}  // namespace servecast::cost
