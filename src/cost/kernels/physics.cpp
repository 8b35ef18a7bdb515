#include "cost/kernels/physics.hpp"

#include "cost/kernels/forms.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost::kernels {

namespace {

struct Widths {
  double weight = 2;
  double activation = 2;
};

// Bytes per element with block scales. fp8_block: one FP32 scale per 128 x 128 weights and per 128 activations; nvfp4:
// one byte per 16; int4 and mxfp4: one byte or half per 32, rounded.
Widths widths(DataType type) {
  switch (type) {
    case DataType::Bf16: return {2, 2};
    case DataType::Fp8: return {1, 1};
    case DataType::Fp8Block: return {1 + 4.0 / 16384, 1 + 4.0 / 128};
    case DataType::Nvfp4: return {.5625, .5625};
    case DataType::Int4: return {.53, 2};
    case DataType::Mxfp4A16: return {.53, 2};
    case DataType::Mxfp4A8: return {.53, 1};
  }
  return {};
}

// A format the GPU has no unit for runs at the next wider rate that it has.
double peak(DataType type, const Machine& m) {
  const bool eight = type == DataType::Fp8 || type == DataType::Fp8Block || type == DataType::Mxfp4A8;
  if (type == DataType::Nvfp4 && m.fp4 > 0) return m.fp4;
  if ((eight || type == DataType::Nvfp4) && m.fp8 > 0) return m.fp8;
  return m.bf16;
}

}  // namespace

bool operator==(const Key& a, const Key& b) {
  return a.family == b.family && a.type == b.type && a.kv == b.kv && a.variant == b.variant && a.kernel == b.kernel;
}

Context context(const Key& key, const Machine& m) {
  Context c;
  c.family = key.family;
  c.machine = m;
  c.peak = peak(key.type, m);
  c.weight_bytes = widths(key.type).weight;
  c.activation_bytes = widths(key.type).activation;
  c.kv_bytes = widths(key.kv).activation;
  c.matrices = key.variant.ends_with("-nongated") ? 2 : 3;
  c.wide = key.variant.starts_with("wide");
  c.mha = key.variant.starts_with("mha");
  c.module = key.variant == "module";
  return c;
}

Physics physics(const Context& c, const Parameters& p, const Features& x, bool cold) {
  switch (c.family) {
    case Family::Gemm: return gemm_physics(c, p, x);
    case Family::Decode: return decode_physics(c, p, x, cold);
    case Family::Prefill: return prefill_physics(c, p, x);
    case Family::MlaDecode: return mla_decode_physics(c, p, x, cold);
    case Family::MlaPrefill: return mla_prefill_physics(c, p, x);
    case Family::MlaBmm: return mla_bmm_physics(c, p, x);
    case Family::Moe: return moe_physics(c, p, x);
    case Family::Quantise: return quantise_physics(c, p, x);
    case Family::DispatchLowLatency: return low_latency_physics(p, x, true);
    case Family::CombineLowLatency: return low_latency_physics(p, x, false);
    case Family::DispatchNormal: return normal_physics(p, x, true);
    case Family::CombineNormal: return normal_physics(p, x, false);
  }
  return {};
}

std::size_t head_dim_feature(Family family) {
  if (family == Family::Decode) return 3;
  if (family == Family::Prefill) return 4;
  return max_features;
}

// Share of the L2 cache below which operands stay there from one launch of the benchmark to the next. Measured: H100
// and H200 take equal times up to 6 MB, and times as their bandwidths above.
constexpr double gemm_resident = .13;

Physics gemm_physics(const Context& c, const Parameters& p, const Features& x) {
  const auto [t0, tk, ec, eb, hs, q, rs] = first<7>(p);
  const double m = x[0], n = x[1], k = x[2];
  const double tc = 2 * m * n * k / (c.peak * ec) * (1 + hs * 1e6 / (m * n));
  const double bytes = n * k * c.weight_bytes + m * k * c.activation_bytes + 2 * m * n;
  const double hbm = bytes / (c.machine.bytes_per_us * eb) * (1 - resident(bytes, gemm_resident * c.machine.l2_bytes));
  const double tm = loading(hbm, bytes, rs, c.machine);
  return {t0 + tk * k / 1000 + smooth_max(tc, tm, 1 + q), tc, tm};
}

// Three passes over the activations: two reads of BF16 and one write of FP8, or the like; eb absorbs the difference.
Physics quantise_physics(const Context& c, const Parameters& p, const Features& x) {
  const auto [t0, eb, x2, cap] = first<4>(p);
  const double elements = x[0] * x[1];
  const double w = resident(2 * elements, cap * c.machine.l2_bytes);
  const double tm = 3 * elements / (c.machine.bytes_per_us * eb) * (1 - w * x2 / (1 + x2));
  return {t0 + tm, 0, tm};
}

// Routed experts of the busiest rank: weights of the active ones, rows padded to the tile of the kernel.
Physics moe_physics(const Context& c, const Parameters& p, const Features& x) {
  const auto [t0, eb, ec, ca, ce, cx, q, wi] = first<8>(p);
  const double tokens = x[0], hidden = x[1], inter = x[2], local = x[3], top_k = x[4];
  const double rows = x[6], active = x[7];
  const double padded = rows / active < 16 ? x[8] : x[9];
  const double tm = active * c.matrices * hidden * inter * c.weight_bytes / (c.machine.bytes_per_us * eb);
  const double tc = 2 * c.matrices * padded * hidden * inter / (c.peak * ec) * (1 + wi * 256 / inter);
  const double act = (2 * tokens * hidden + rows * (4 * hidden + 6 * inter)) / c.machine.bytes_per_us;
  const double us = t0 + smooth_max(tm, tc, 1 + q) + ca * act + ce * local / 64 + cx * tokens * top_k / 1e4;
  return {us, tc, tm + ca * act};
}

// bytes: 1.03 per element dispatched in FP8 with scales, 2 combined in BF16; each token copy carries 16 bytes.
Physics low_latency_physics(const Parameters& p, const Features& x, bool dispatch) {
  const auto [t0, ce, bw, bwe, q, ct] = first<6>(p);
  const double tokens = x[0], hidden = x[1], top_k = x[2], experts = x[3];
  constexpr double gb_s_per_us = 1e3;  // bytes per us
  const double bytes = tokens * top_k * (hidden * (dispatch ? 1.03 : 2.0) + 16);
  const double link = bytes / (bw * gb_s_per_us);
  const double us =
      t0 + ce * experts / 256 + smooth_max(link, bytes / (bwe * gb_s_per_us * experts), 1 + q) + ct * tokens / 100;
  return {us, 0, link};
}

// Each token goes once to every rank that holds one of its experts: 8 (1 - (7/8)^k) of 8 ranks on average.
Physics normal_physics(const Parameters& p, const Features& x, bool dispatch) {
  const auto [t0, b, q, ct] = first<4>(p);
  constexpr double ranks = 8;
  constexpr double gb_s_per_us = 1e3;
  const double unique = ranks * (1 - std::pow(1 - 1 / ranks, x[2]));
  const double link = x[0] * unique * x[1] * (dispatch ? 1.03 : 2.0) / (b * gb_s_per_us * x[4]);
  return {smooth_max(t0, link + ct * x[0] / 100, 1 + q), 0, link};
}

}  // namespace servecast::cost::kernels
