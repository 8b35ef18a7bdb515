// Which table answers for which operator.
#include "cost/measured.hpp"
#include "model/blocks.hpp"

#include <algorithm>
#include <string_view>

namespace servecast::cost {
namespace {

using kernels::DataType;
using kernels::Kernels;
using precision::Format;

constexpr double skew = 1.2;           // measured: power law of expert load that serving shows
constexpr double probe = 64;           // tokens, to ask whether a table knows an operator
constexpr double nccl_from = 1 << 20;  // bytes from which an engine may leave its own all-reduce to NCCL
constexpr double no_prefix = 0;

// The fastest answer among a choice's tables.
template <typename Ask>
std::optional<KernelTime> fastest(const TableChoice& c, const Ask& ask) {
  std::optional<KernelTime> best;
  for (const Kernels* k : c.tables) {
    const std::optional<KernelTime> t = ask(*k, c);
    if (t && (!best || t->seconds < best->seconds)) best = t;
  }
  return best;
}

// The first choice for a type that knows the shape.
template <typename Ask>
const TableChoice* first(const KernelTables::List& list, DataType type, const Ask& ask) {
  for (const TableChoice& c : list)
    if (c.admits(type) && fastest(c, ask)) return &c;
  return nullptr;
}

std::optional<DataType> cache_type(Format f) {
  if (f == Format::BFloat16 || f == Format::Float16) return DataType::Bf16;
  if (f == Format::Fp8) return DataType::Fp8;
  return std::nullopt;
}

MeasuredCurve gemm_curve(const KernelTables& t, const Operator& op, std::int32_t most) {
  const auto type = data_type(op.weights, op.activations);
  if (!type) return {};
  const auto at = [&](double m) {
    return [&, m](const Kernels& k, const TableChoice&) { return k.gemm({m, op.n, op.k, *type}); };
  };
  const TableChoice* found = first(t.gemm, *type, at(probe));
  if (found == nullptr) return {};
  return MeasuredCurve(most, [&](double m) { return fastest(*found, at(m)); });
}

MeasuredCurve moe_curve(const KernelTables& t, const OperatorInput& in, const Operator& op, std::int32_t most) {
  const model::Architecture& a = in.architecture;
  const auto type = data_type(op.weights, op.activations);
  if (!type || !a.moe) return {};
  kernels::MoeShape s;
  s.hidden = a.moe->latent > 0 ? a.moe->latent : a.hidden;
  s.inter = a.moe->intermediate;
  s.experts = op.experts;
  s.top_k = op.top_k;
  s.type = *type;
  s.gated = a.gated_mlp;
  // Kernels with 128-wide scale blocks cannot split an expert inside a block: engines spread whole experts then.
  const bool whole = *type == DataType::Fp8Block && a.moe->intermediate % (128 * in.tensor) != 0;
  (whole ? s.ep : s.tp) = in.tensor;
  const auto at = [&](double tokens) {
    return [&, tokens, load = kernels::expert_load(tokens, op.experts, op.top_k, s.ep, skew)](const Kernels& k,
                                                                                              const TableChoice& c) {
      s.tokens = tokens;
      s.kernel = c.kernel;
      return k.moe(s, load);
    };
  };
  const TableChoice* found = first(t.moe, *type, at(probe));
  if (found == nullptr) return {};
  return MeasuredCurve(most, [&](double tokens) { return fastest(*found, at(tokens)); });
}

// The engine's own kernel in a CUDA graph; beyond its measured sizes NCCL, where that was measured.
std::optional<KernelTime> reduce(const Kernels& k, double bytes, std::int32_t ranks) {
  const auto own = k.all_reduce(bytes, ranks, true);
  if (!own || !own->extrapolated || bytes < nccl_from) return own;
  const auto nccl = k.nccl(kernels::Collective::AllReduce, bytes, ranks);
  return nccl && !nccl->extrapolated ? nccl : own;
}

MeasuredCurve reduce_curve(const KernelTables& t, const OperatorInput& in, const Operator& op, std::int32_t most) {
  const std::int32_t gpus = in.tensor / in.ranks_per_gpu;
  if (gpus == 1) return {};
  const auto at = [&, gpus](double tokens) {
    return [&, gpus, tokens](const Kernels& k, const TableChoice&) { return reduce(k, tokens * op.unit_bytes, gpus); };
  };
  const TableChoice* found = first(t.all_reduce, DataType::Bf16, at(probe));
  if (found == nullptr) return {};
  return MeasuredCurve(most, [&](double tokens) { return fastest(*found, at(tokens)); });
}

// The scaling pass alone: checkpoints carry the scale of a tensor, and blocks find theirs on the way. What is measured
// writes FP8; FP4 reads as much and writes less, so its time is derived, and an upper bound.
MeasuredCurve convert_curve(const KernelTables& t, const Operator& op, std::int32_t most) {
  const auto at = [&](double tokens) {
    return [&, tokens](const Kernels& k, const TableChoice&) {
      auto time = k.quantise(tokens * op.rows, op.k, false);
      if (time && op.weights != Format::Fp8 && time->origin == Evidence::Measured) time->origin = Evidence::Derived;
      return time;
    };
  };
  const TableChoice* found = first(t.quantise, DataType::Fp8, at(probe));
  if (found == nullptr) return {};
  return MeasuredCurve(most, [&](double tokens) { return fastest(*found, at(tokens)); });
}

// Attention of some equal blocks of one class.
struct Heads {
  double query = 0;
  double kv = 0;
  double dim = 0;
  double window = 0;
  DataType cache = DataType::Bf16;
  double layers = 0;
};

std::optional<KernelTime> decode_time(const Kernels& k, const Heads& h, double batch, double context) {
  kernels::DecodeShape s{batch, h.query, h.kv, h.dim, context, h.window, h.cache, false};
  return k.decode(s);
}

std::optional<KernelTime> prefill_time(const Kernels& k, const Heads& h, double tokens) {
  kernels::PrefillShape s{1, tokens, no_prefix, h.query, h.kv, h.dim, h.window, DataType::Bf16, h.cache};
  if (auto t = k.prefill(s)) return t;
  s.type = h.cache;
  return k.prefill(s);
}

// All blocks of a class together: the sum over its kinds, as uncertain as the worst of them; nothing where one is
// unknown.
template <typename Ask>
std::optional<KernelTime> summed(const std::vector<Heads>& heads, const Ask& ask) {
  std::optional<KernelTime> sum;
  for (const Heads& h : heads) {
    auto t = ask(h);
    if (!t) return std::nullopt;
    t->seconds *= h.layers;
    if (sum) {
      t->seconds += sum->seconds;
      t->extrapolated = t->extrapolated || sum->extrapolated;
      if (sum->origin == Evidence::Derived) t->origin = Evidence::Derived;
      t->error = std::max(t->error, sum->error);
    }
    sum = t;
  }
  return sum;
}

MeasuredDecode decode_table(const KernelTables& t, const std::vector<Heads>& heads, std::int32_t decoders,
                            std::int32_t context) {
  const auto at = [&](double d, double c) {
    return [&heads, d, c](const Kernels& k, const TableChoice&) {
      return summed(heads, [&](const Heads& h) { return decode_time(k, h, d, c); });
    };
  };
  const TableChoice* found = first(t.decode, heads[0].cache, at(1, probe));
  if (found == nullptr) return {};
  return MeasuredDecode(decoders, context, [&](double d, double c) { return fastest(*found, at(d, c)); });
}

MeasuredPrefill prefill_table(const KernelTables& t, const std::vector<Heads>& heads, std::int32_t context) {
  const auto at = [&](double n) {
    return [&heads, n](const Kernels& k, const TableChoice&) {
      return summed(heads, [&](const Heads& h) { return prefill_time(k, h, n); });
    };
  };
  const TableChoice* found = first(t.prefill, heads[0].cache, at(probe));
  if (found == nullptr) return {};
  return MeasuredPrefill(context, 1, [&](double n) { return fastest(*found, at(n)); });
}

// Blocks of a class that tables may know; empty where they know none: latent attention, chunked windows, keys and
// values of different widths.
std::vector<Heads> heads_of(const OperatorInput& in, int layer_class, DataType cache, MeasuredAttention& out) {
  std::vector<Heads> heads;
  bool known = true;
  for (const model::AttentionBlocks& g : model::blocks_of(in.architecture).attention) {
    const model::Attention& a = *g.attention;
    const double layers = g.cross ? 0 : layer_class == 1 ? g.windowed : g.count - g.windowed;
    if (layers <= 0) continue;
    out.layers += layers;
    const bool chunked = layer_class == 1 && a.window_is_chunk;
    known = known && a.kind == model::AttentionKind::Gqa && !chunked && model::value_width(a) == a.head_dim;
    heads.push_back({static_cast<double>(a.heads) / in.tensor,
                     std::max(1.0, static_cast<double>(a.kv_heads) / in.tensor), static_cast<double>(a.head_dim),
                     layer_class == 1 ? a.window : 0.0, cache, layers});
  }
  return known ? heads : std::vector<Heads>{};
}

}  // namespace

bool TableChoice::admits(DataType type) const {
  return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

std::optional<DataType> data_type(Format weights, Format activations) {
  const bool eight = activations == Format::Fp8 || activations == Format::Fp8Block || activations == Format::Mxfp8;
  const bool wide = activations == Format::BFloat16 || activations == Format::Float16;
  switch (weights) {
    case Format::BFloat16:
    case Format::Float16: return DataType::Bf16;
    case Format::Fp8: return eight ? std::optional(DataType::Fp8) : std::nullopt;
    case Format::Fp8Block: return eight ? std::optional(DataType::Fp8Block) : std::nullopt;
    case Format::Nvfp4: return activations == Format::Nvfp4 ? std::optional(DataType::Nvfp4) : std::nullopt;
    case Format::Mxfp4:
      if (wide) return DataType::Mxfp4A16;
      return eight ? std::optional(DataType::Mxfp4A8) : std::nullopt;
    case Format::Int4Group128: return wide ? std::optional(DataType::Int4) : std::nullopt;
    default: return std::nullopt;
  }
}

MeasuredCurve measured_curve(const KernelTables& t, const OperatorInput& in, const Operator& op, std::int32_t most) {
  switch (op.kind) {
    case Kind::Gemm: return gemm_curve(t, op, most);
    case Kind::Convert: return convert_curve(t, op, most);
    case Kind::Experts: return moe_curve(t, in, op, most);
    case Kind::AllReduce: return reduce_curve(t, in, op, most);
    default: return {};
  }
}

MeasuredAttention measured_attention(const KernelTables& t, const OperatorInput& in, int layer_class,
                                     const MeasuredLimits& limits) {
  MeasuredAttention out;
  const auto cache = cache_type(in.precision.kv_cache);
  const std::vector<Heads> heads = heads_of(in, layer_class, cache.value_or(DataType::Bf16), out);
  if (heads.empty() || !cache) return out;
  const std::int32_t context =
      layer_class == 1 ? std::min(static_cast<std::int32_t>(heads[0].window), limits.context) : limits.context;
  out.decode = decode_table(t, heads, limits.decoders, context);
  out.prefill = prefill_table(t, heads, limits.context);
  return out;
}

bool measures_fp8(const KernelTables& t, const OperatorInput& in) {
  const model::TensorFormats& w = in.precision.weights;
  const double width = in.architecture.hidden;
  const auto measured = [&](Format weights, Format activations) {
    const auto type = data_type(weights, activations);
    if (type != DataType::Fp8 && type != DataType::Fp8Block) return false;
    const auto ask = [&](const Kernels& k, const TableChoice&) { return k.gemm({probe, width, width, *type}); };
    return first(t.gemm, *type, ask) != nullptr;
  };
  for (const Format f : w.feed_forward)
    if (measured(f, f)) return true;
  for (const Format f : {w.attention, w.mlp, w.experts})
    if (measured(f, in.precision.activations)) return true;
  return false;
}

namespace {

void merge_experts(std::vector<Operator>& operators, std::string_view label) {
  const auto is = [label](std::string_view name) {
    return [name, label](const Operator& o) { return o.name == name && o.label == label; };
  };
  const auto up = std::find_if(operators.begin(), operators.end(), is("experts gate and up"));
  const auto down = std::find_if(operators.begin(), operators.end(), is("experts down"));
  if (up == operators.end() || down == operators.end()) return;
  up->name = "routed experts";
  up->flops += down->flops;
  up->weight_bytes += down->weight_bytes;
  up->unit_bytes += down->unit_bytes;
  for (const std::string_view name :
       {"experts down", "expert permutation", "expert activation", "expert combination", "convert for expert down"})
    std::erase_if(operators, is(name));
}

}  // namespace

void merge_measured_experts(const KernelTables& t, const OperatorInput& in, std::vector<Operator>& operators) {
  std::vector<std::string_view> labels;
  for (const Operator& op : operators) {
    const bool known = std::find(labels.begin(), labels.end(), op.label) != labels.end();
    if (op.kind != Kind::Experts || known) continue;
    if (!measured_curve(t, in, op, static_cast<std::int32_t>(probe)).empty()) labels.push_back(op.label);
  }
  for (const std::string_view label : labels) merge_experts(operators, label);
}

}  // namespace servecast::cost
