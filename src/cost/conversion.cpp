// Kernels that turn the inputs of FP8 and FP4 multiplications into their format.
#include "cost/operator_shape.hpp"

namespace servecast::cost {
namespace {

using precision::Format;

double kernels_of(const HostConstants& h, Rate rate) {
  return rate == Rate::Fp4 ? h.quantise_kernels_fp4 : rate == Rate::Fp8 ? h.quantise_kernels_fp8 : 0.0;
}

// Half of a layer's conversions belong to its attention, half to its feed-forward part (assumed: two inputs each).
void add_stack_quantisation(std::vector<Operator>& ops, const Shape& s, const std::vector<FeedForward>& groups) {
  const HostConstants& h = s.in.host;
  const bool moe = s.a.moe && s.a.moe->layers > 0;
  const auto add = [&](double launches, Format made, std::string_view label) {
    if (launches <= 0) return;
    ops.push_back(s.small("activation quantisation", launches, s.hidden * (act + precision::activation_bytes(made))));
    ops.back().label = label;
  };
  const double attention = kernels_of(h, s.math(s.in.precision.weights.attention).rate);
  if (s.in.precision.weights.feed_forward.empty()) {
    const Format widest = moe ? groups.front().group.experts : groups.front().group.mlp;
    const double forward = kernels_of(h, s.math(widest).rate);
    const double mixers = s.blocks.mixers() / s.layers;  // blocks may lack a half
    const double forwards = s.blocks.feed_forwards() / s.layers;
    add(s.layers * (attention * 0.5 * mixers + forward * 0.5 * forwards), s.in.precision.activations, {});
    return;
  }
  add(s.blocks.mixers() * attention * 0.5, s.in.precision.activations, {});
  for (const FeedForward& ff : groups)
    add(ff.layers() * kernels_of(h, s.math(ff.group.mlp, ff.activations).rate) * 0.5, ff.activations, ff.label);
}

// One kernel for each input of a multiplication at the FP8 or FP4 rate, reading 16 bits and writing the format.
struct Converter {
  std::vector<Operator>& ops;
  const Shape& s;

  void add(std::string_view name, double count, double width, const Shape::Operands& o, double rows = 1) const {
    const Rate rate = s.math(o.weights, o.activations).rate;
    if ((rate != Rate::Fp8 && rate != Rate::Fp4) || count <= 0 || width <= 0) return;
    Operator op = s.small(name, count, rows * width * (act + s.math(o.weights, o.activations).activation_bytes));
    op.kind = Kind::Convert;
    op.k = width;
    op.weights = rate == Rate::Fp4 ? Format::Nvfp4 : Format::Fp8;
    op.label = o.label;
    op.rows = rows;
    ops.push_back(op);
  }
};

void convert_mixers(const Converter& c, const Shape& s) {
  const Shape::Operands attention = {s.in.precision.weights.attention, s.in.precision.activations};
  for (const model::AttentionBlocks& g : s.blocks.attention) {
    const model::Attention& t = *g.attention;
    const bool mla = t.kind == model::AttentionKind::Mla;
    c.add("convert for qkv", g.count, s.hidden, attention);
    if (mla && t.q_lora_rank > 0) c.add("convert for q up", g.count, t.q_lora_rank, attention);
    c.add("convert for output", g.count, t.heads / s.tensor * model::value_width(t), attention);
  }
  if (s.blocks.state == 0) return;
  const model::StateWidths w = model::state_widths(*s.a.state, s.in.tensor);
  c.add("convert for state", s.blocks.state, s.hidden, attention);
  c.add("convert for state output", s.blocks.state, static_cast<double>(w.value), attention);
}

void add_own_kernels(std::vector<Operator>& ops, const Shape& s, const std::vector<FeedForward>& groups) {
  const Converter c{ops, s};
  convert_mixers(c, s);
  for (const FeedForward& ff : groups) {
    c.add("convert for mlp", ff.group.dense_layers(), s.hidden, ff.mlp());
    for (const model::DenseBlocks& d : ff.group.dense) c.add("convert for down", d.count, d.width / s.tensor, ff.mlp());
    if (!s.a.moe) continue;
    const model::Moe& m = *s.a.moe;
    if (m.latent > 0) c.add("convert for latent", ff.group.moe_layers, s.hidden, ff.mlp());
    c.add("convert for experts", ff.group.moe_layers, m.latent > 0 ? m.latent : s.hidden, ff.experts());
    c.add("convert for expert down", ff.group.moe_layers, m.intermediate / s.tensor, ff.experts(), m.top_k);
    if (m.latent > 0) c.add("convert for latent up", ff.group.moe_layers, m.latent, ff.mlp());
    c.add("convert for shared down", ff.group.moe_layers, m.shared_intermediate / s.tensor, ff.mlp());
  }
}

}  // namespace

void add_conversions(std::vector<Operator>& ops, const Shape& s, const std::vector<FeedForward>& groups) {
  switch (s.in.precision.conversion) {
    case Conversion::Stack: add_stack_quantisation(ops, s, groups); break;
    case Conversion::Kernel: add_own_kernels(ops, s, groups); break;
    case Conversion::Fused: break;
  }
}

}  // namespace servecast::cost
