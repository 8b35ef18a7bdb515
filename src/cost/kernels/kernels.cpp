// Lookups and labels around the fitted kernels: which fit answers a question, and how sure the answer is.
#include "cost/kernels/profile.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost::kernels {

namespace {

constexpr double us = 1e-6;
constexpr double fallback_error = 0.3;  // assumed: a stand-in class, head size or window
constexpr double curve_error = 0.21;    // measured: every other size of a curve left out, worst 90th percentile
constexpr double between_error = 0.22;  // measured: 4-GPU curves from 2 and 8, 90th percentile
constexpr double widest_ratio = 32;     // query heads per kv head of grouped kernels
// 90th percentile of the error of a fit moved by specification alone: within an architecture (measured: H200 to H100)
// and across (measured: H200 to B200; DeepEP and quantisation assumed as MoE). docs/models/kernels.md has the medians.
double transfer_error(Family family, bool same_architecture) {
  switch (family) {
    case Family::Gemm: return same_architecture ? 0.21 : 0.72;
    case Family::Decode: return same_architecture ? 0.29 : 2.55;
    case Family::Prefill: return same_architecture ? 0.19 : 0.67;
    case Family::MlaDecode:
    case Family::MlaPrefill:
    case Family::MlaBmm: return same_architecture ? 0.24 : 1.85;
    default: return same_architecture ? 0.41 : 0.52;
  }
}
constexpr double curve_transfer_error = 0.5;  // assumed: links differ more than kernels do

// Whether the tensor cores multiply in this type; elsewhere its weights are widened, by kernels that nobody measured.
bool executes(const Machine& m, DataType type) {
  switch (type) {
    case DataType::Nvfp4: return m.fp4 > 0;
    case DataType::Fp8:
    case DataType::Fp8Block:
    case DataType::Mxfp4A8: return m.fp8 > 0;
    default: return true;
  }
}

// Variants of one architecture ("blackwell", "blackwell_ultra") share their kernels.
bool related(std::string_view a, std::string_view b) { return a.substr(0, a.find('_')) == b.substr(0, b.find('_')); }

std::string_view ratio_class(double heads, double kv_heads) {
  const double ratio = heads / kv_heads;
  return ratio <= 1 ? "mha" : ratio <= widest_ratio ? "gqa" : "wide";
}

std::string_view op_name(Collective c) {
  switch (c) {
    case Collective::AllReduce: return "all_reduce";
    case Collective::AllGather: return "all_gather";
    case Collective::ReduceScatter: return "reduce_scatter";
    case Collective::AllToAll: return "alltoall";
  }
  return "";
}

}  // namespace

Kernels::Kernels(const KernelProfile& profile, const hardware::Gpu& gpu)
    : stack_(profile.stack), transferred_(profile.gpu != gpu.name) {
  const Machine m = machine(gpu);
  for (const Fit& fit : profile.fits) {
    if (!executes(m, fit.key.type)) continue;
    by_family_[static_cast<std::size_t>(fit.key.family)].push_back(static_cast<std::uint16_t>(kernels_.size()));
    kernels_.emplace_back(fit, m);
  }
  for (const Curve& c : profile.curves) {
    auto set = std::find_if(curve_sets_.begin(), curve_sets_.end(),
                            [&c](const CurveSet& s) { return s.op() == c.op && s.mode() == c.mode; });
    if (set == curve_sets_.end()) set = curve_sets_.emplace(set, c.op, c.mode);
    set->add(c);
  }
  same_architecture_ = related(profile.architecture, gpu.architecture);
}

bool Kernels::has(Family family) const { return !by_family_[static_cast<std::size_t>(family)].empty(); }

const FittedKernel* Kernels::find(Family family, DataType type, DataType kv, std::string_view variant) const {
  for (const std::uint16_t i : by_family_[static_cast<std::size_t>(family)]) {
    const Key& k = kernels_[i].key();
    if (k.type == type && k.kv == kv && k.variant == variant) return &kernels_[i];
  }
  return nullptr;
}

KernelTime Kernels::timed(const FittedKernel& kernel, const Features& x, bool cold, bool stand_in) const {
  const Physics p = kernel.physics(x, cold);
  KernelTime t;
  t.seconds = p.us * kernel.correction(x) * us;
  t.extrapolated = stand_in || !kernel.inside(x);
  t.origin = transferred_ || stand_in ? hardware::Evidence::Derived : hardware::Evidence::Measured;
  const double moved = transferred_ ? transfer_error(kernel.key().family, same_architecture_) : 0;
  t.error = std::max({kernel.error(), moved, stand_in ? fallback_error : 0.0});
  return t;
}

std::optional<KernelTime> Kernels::gemm(const GemmShape& s) const {
  const FittedKernel* k = find(Family::Gemm, s.type, DataType::Bf16, "");
  if (k == nullptr) return std::nullopt;
  return timed(*k, {s.m, s.n, s.k}, false, false);
}

std::optional<KernelTime> Kernels::decode(const DecodeShape& s) const {
  const std::string_view cls = ratio_class(s.heads, s.kv_heads);
  Features x = {s.batch, s.heads, s.kv_heads, s.head_dim, s.context, s.window};
  // Nearest class first; a missing windowed class reads a plain one with the context cut to the window.
  for (const bool windowed : {s.window > 0, false}) {
    if (!windowed && s.window > 0) x[4] = std::min(s.context, s.window), x[5] = 0;
    for (const std::string_view candidate : {cls, std::string_view("gqa"), std::string_view("mha")}) {
      for (const std::uint16_t i : by_family_[static_cast<std::size_t>(Family::Decode)]) {
        const Key& k = kernels_[i].key();
        const bool matches =
            k.kv == s.kv && k.variant.starts_with(candidate) && k.variant.ends_with("-windowed") == windowed;
        if (matches) return timed(kernels_[i], x, !s.warm_l2, candidate != cls || windowed != (s.window > 0));
      }
    }
  }
  return std::nullopt;
}

std::optional<KernelTime> Kernels::prefill(const PrefillShape& s) const {
  const Features x = {s.batch, s.tokens, s.heads, s.kv_heads, s.head_dim, s.window, s.prefix};
  const FittedKernel* plain = nullptr;
  for (const std::uint16_t i : by_family_[static_cast<std::size_t>(Family::Prefill)]) {
    const Key& k = kernels_[i].key();
    if (k.type == s.type && k.kv == s.kv) return timed(kernels_[i], x, false, s.window > 0 && k.variant.empty());
    if (k.type == s.type && plain == nullptr) plain = &kernels_[i];
  }
  if (plain == nullptr) return std::nullopt;
  return timed(*plain, x, false, true);
}

std::optional<KernelTime> Kernels::mla_decode(const MlaShape& s) const {
  const FittedKernel* k = s.module ? find(Family::MlaDecode, s.gemm, s.kv, "module")
                                   : find(Family::MlaDecode, DataType::Bf16, s.kv, "kernel");
  if (k == nullptr) return std::nullopt;
  return timed(*k, {s.batch, s.tokens, s.heads}, !s.warm_l2, false);
}

std::optional<KernelTime> Kernels::mla_prefill(const MlaShape& s) const {
  const FittedKernel* k = s.module ? find(Family::MlaPrefill, s.gemm, s.kv, "module")
                                   : find(Family::MlaPrefill, DataType::Bf16, s.kv, "kernel");
  if (k == nullptr) return std::nullopt;
  return timed(*k, {s.batch, s.tokens, s.heads}, false, false);
}

std::optional<KernelTime> Kernels::mla_bmm(double tokens, double heads, DataType type, bool before) const {
  const FittedKernel* k = find(Family::MlaBmm, type, DataType::Bf16, before ? "before" : "after");
  if (k == nullptr) return std::nullopt;
  return timed(*k, {tokens, heads}, false, false);
}

std::optional<KernelTime> Kernels::moe(const MoeShape& s, const ExpertLoad& load) const {
  const FittedKernel* best = nullptr;
  for (const std::uint16_t i : by_family_[static_cast<std::size_t>(Family::Moe)]) {
    const FittedKernel& one = kernels_[i];
    const Key& k = one.key();
    const bool skewed = k.variant.starts_with("skewed");
    if (k.type != s.type || skewed == s.balanced || k.variant.ends_with("-nongated") == s.gated) continue;
    if (!s.kernel.empty() && k.kernel.find(s.kernel) == std::string::npos) continue;
    if (best == nullptr || one.rows() > best->rows()) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  const Features x = {s.tokens, s.hidden,  s.inter / s.tp, s.experts / s.ep, s.top_k,
                      s.ep,     load.rows, load.active,    load.rows_by_16,  load.rows_by_64};
  return timed(*best, x, false, false);
}

std::optional<KernelTime> Kernels::quantise(double rows, double width, bool compute_scale) const {
  const FittedKernel* k =
      find(Family::Quantise, DataType::Fp8, DataType::Bf16, compute_scale ? "compute_scale" : "scale");
  if (k == nullptr) return std::nullopt;
  return timed(*k, {rows, width}, false, false);
}

std::optional<KernelTime> Kernels::exchange(const ExpertExchange& s) const {
  const Family family = s.low_latency ? (s.dispatch ? Family::DispatchLowLatency : Family::CombineLowLatency)
                                      : (s.dispatch ? Family::DispatchNormal : Family::CombineNormal);
  const auto& found = by_family_[static_cast<std::size_t>(family)];
  if (found.empty()) return std::nullopt;
  KernelTime t = timed(kernels_[found.front()], {s.tokens, s.hidden, s.top_k, s.experts, s.sms}, false, false);
  return t;
}

std::optional<KernelTime> Kernels::curve(std::string_view op, std::string_view mode, double bytes,
                                         std::int32_t ranks) const {
  CurveTime found;
  const auto set = std::find_if(curve_sets_.begin(), curve_sets_.end(),
                                [&](const CurveSet& s) { return s.op() == op && s.mode() == mode; });
  if (set == curve_sets_.end() || !set->time(bytes, ranks, found)) return std::nullopt;
  KernelTime t;
  t.seconds = found.us * us;
  t.extrapolated = found.outside;
  t.origin = transferred_ || found.interpolated ? hardware::Evidence::Derived : hardware::Evidence::Measured;
  t.error = std::max(transferred_ ? curve_transfer_error : 0.0, found.interpolated ? between_error : curve_error);
  return t;
}

std::optional<KernelTime> Kernels::all_reduce(double bytes, std::int32_t ranks, bool graph) const {
  return curve("all_reduce", graph ? "graph" : "eager", bytes, ranks);
}

std::optional<KernelTime> Kernels::nccl(Collective op, double bytes, std::int32_t ranks) const {
  return curve(op_name(op), "nccl", bytes, ranks);
}

}  // namespace servecast::cost::kernels
