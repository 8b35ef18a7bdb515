// Where each family's residual surfaces have their knots, and how features become their coordinates.
#include "cost/kernels/forms.hpp"

#include <cmath>
#include <cstdint>

namespace servecast::cost::kernels {

namespace {

using Knots = std::vector<double>;
using Axes = std::vector<Knots>;

Knots powers(std::initializer_list<double> exponents) {
  Knots out;
  for (const double e : exponents) out.push_back(std::round(std::exp2(e)));
  return out;
}

std::vector<Axes> gemm_axes(bool unaligned) {
  const Knots width = {32, 256, 1024, 3072, 8192, 65536};
  std::vector<Axes> out = {{{1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768}, width, width}};
  const Knots coarse = {32, 512, 4096, 65536};
  if (unaligned)
    out.push_back({{1, 4, 16, 32, 64, 128, 192, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 32768}, coarse, coarse});
  return out;
}

std::vector<Axes> decode_axes(const Key& key, const Knots& head_dims) {
  const bool windowed = key.variant.ends_with("windowed");
  const Knots units = {1, 8, 64, 128, 256, 512, 1024, 2048, 16384};
  const Knots bytes =
      windowed ? powers({12, 18, 21, 24, 27, 30}) : powers({12, 19, 21, 23, 24, 25, 26, 26.6, 27, 28, 30, 35});
  std::vector<Axes> out = {{bytes, units, head_dims}};
  const Knots ratio = key.variant.starts_with("wide") ? Knots{33, 64, 128} : Knots{2, 4, 8, 16, 32};
  if (!key.variant.starts_with("mha")) out.push_back({ratio, {1, 8, 64, 256, 1024, 4096, 16384}, head_dims});
  if (windowed) out.push_back({{2, 128, 512, 2048, 16384, 131072}, units});
  return out;
}

std::vector<Axes> prefill_axes(const Key& key, const Knots& head_dims) {
  std::vector<Axes> out = {
      {{1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}, {1, 8, 32, 128, 512, 2048, 16384}, head_dims},
      {{1, 2, 4, 8, 16, 32, 64, 96}, {1, 64, 256, 1024, 4096, 16384}, {1, 16, 128, 1024, 16384}}};
  if (key.variant == "windowed")
    out.push_back({{1, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}, {1, 16, 128, 1024, 16384}});
  return out;
}

std::vector<Axes> moe_axes() {
  const Knots tokens = {1, 4, 16, 32, 64, 128, 256, 1024, 4096, 16384};
  return {{tokens, {1, 8, 64, 512}, {64, 256, 1024, 4096, 16384}},
          {{1024, 4096, 8192}, {.25, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 8192}},
          {tokens, {1, 8, 64, 256}},
          {{64, 256, 1024, 4096, 16384, 65536, 262144, 1048576}, {.25, 1, 4, 16, 64, 256, 1024, 8192}},
          {{4, 8, 16, 32}, {1, 8, 64, 512}}};
}

// Largest power of two that divides a width.
double alignment(double width) {
  const auto whole = static_cast<std::uint64_t>(width);
  return whole == 0 ? 1 : static_cast<double>(whole & (~whole + 1));
}

Coordinates logs(double a, double b = 1, double c = 1) { return {std::log2(a), std::log2(b), std::log2(c), 0}; }

bool decode_coordinates(const Context& c, std::size_t term, const Features& x, Coordinates& out) {
  const DecodeWork w = decode_work(c, x);
  if (term == 0) out = logs(w.kv_bytes, w.units, x[3]);
  if (term == 1 && !c.mha) out = logs(x[1] / x[2], w.units, x[3]);
  if (term == 2 || (term == 1 && c.mha)) out = logs(x[4], w.units);
  return true;
}

bool prefill_coordinates(std::size_t term, const Features& x, Coordinates& out) {
  const double units = x[0] * x[2];
  if (term == 0) out = logs(x[1], units, x[4]);
  if (term == 1) out = logs(x[2] / x[3], x[1], units);
  if (term == 2) out = logs(x[1], units);
  return term < 2 || x[5] > 0;
}

bool moe_coordinates(std::size_t term, const Features& x, Coordinates& out) {
  if (term == 0) out = logs(x[0], x[7], x[2]);
  if (term == 1) out = logs(x[1], x[6] / x[7]);
  if (term == 2) out = logs(x[0], x[5]);
  if (term == 3) out = logs(x[7] * x[2], x[6] / x[7]);
  if (term < 4) return true;
  // Expert widths that are no multiple of 64 (often after tensor parallelism) run on kernels up to four times slower.
  const double aligned = alignment(x[2]);
  out = logs(aligned, x[7]);
  return aligned < 64;
}

// Kernels for row counts that are no multiple of four differ; such rows have a second surface.
bool gemm_coordinates(std::size_t term, const Features& x, Coordinates& out) {
  if (term == 1 && std::fmod(x[0], 4) == 0) return false;
  out = logs(x[0], x[1], x[2]);
  return true;
}

}  // namespace

std::vector<std::vector<std::vector<double>>> surface_axes(const Key& key, const std::vector<double>& head_dims,
                                                           bool unaligned) {
  const Knots heads = {1, 4, 16, 64, 128};
  const Knots exchange_tokens = {1, 16, 64, 256, 1024, 4096, 16384, 65536, 131072};
  switch (key.family) {
    case Family::Gemm: return gemm_axes(unaligned);
    case Family::Decode: return decode_axes(key, head_dims);
    case Family::Prefill: return prefill_axes(key, head_dims);
    case Family::MlaDecode: return {{{1, 4, 16, 64, 256, 1024}, {2, 256, 1024, 4096, 16384, 65536, 131073}, heads}};
    case Family::MlaPrefill:
      return {{{1, 4, 16, 64, 256, 1024}, {1, 32, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}, heads}};
    case Family::MlaBmm: return {{{1, 4, 16, 64, 256, 1024, 4096, 16384}, heads}};
    case Family::Moe: return moe_axes();
    case Family::Quantise:
      return {{powers({8, 14, 17, 19, 21, 23, 25, 26, 27, 28, 30, 32})}, {{1, 16, 128, 1024, 8192, 65536}}};
    case Family::DispatchLowLatency:
    case Family::CombineLowLatency: return {};
    case Family::DispatchNormal:
    case Family::CombineNormal:
      return {{exchange_tokens, {4, 8, 16, 24}}, {{2, 6, 8, 10, 22}, {1, 64, 1024, 8192, 131072}}};
  }
  return {};
}

bool coordinates(const Context& c, std::size_t term, const Features& x, Coordinates& out) {
  switch (c.family) {
    case Family::Gemm: return gemm_coordinates(term, x, out);
    case Family::Decode: return decode_coordinates(c, term, x, out);
    case Family::Prefill: return prefill_coordinates(term, x, out);
    case Family::MlaDecode:
    case Family::MlaPrefill: out = logs(x[0], x[1], x[2]); return true;
    case Family::MlaBmm: out = logs(x[0], x[1]); return true;
    case Family::Moe: return moe_coordinates(term, x, out);
    case Family::Quantise: out = logs(term == 0 ? x[0] * x[1] : x[0]); return true;
    case Family::DispatchLowLatency:
    case Family::CombineLowLatency: return false;
    case Family::DispatchNormal:
    case Family::CombineNormal: out = term == 0 ? logs(x[0], x[4]) : logs(x[2], x[0]); return true;
  }
  return false;
}

}  // namespace servecast::cost::kernels
