#include "cost/rate.hpp"

#include <fmt/core.h>

#include <array>

namespace servecast::cost {
namespace {

using precision::Format;

constexpr double tera = 1e12;
constexpr double bf16_bytes = 2.0;
constexpr double fp32_bytes = 4.0;
// Derived: TF32 runs at half the BF16 rate on every NVIDIA data sheet since Ampere.
constexpr double tf32_share = 0.5;

bool is_fp8(Format f) { return f == Format::Fp8 || f == Format::Fp8Block || f == Format::Mxfp8; }
bool is_fp4(Format f) { return f == Format::Nvfp4 || f == Format::Mxfp4; }
bool is_int4(Format f) { return f == Format::Int4Group128 || f == Format::Int4Group32; }

// The rate the two formats ask for, whatever the GPU has.
Rate wanted(Format weights, Format activations) {
  if (weights == Format::Float32) return Rate::Tf32;
  if (weights == Format::BFloat16 || weights == Format::Float16) return Rate::Bf16;
  if (activations == Format::Int8) return weights == Format::Int8 || is_int4(weights) ? Rate::Int8 : Rate::Bf16;
  if (weights == Format::Int8) return Rate::Bf16;
  if (is_fp8(activations)) return Rate::Fp8;
  if (is_fp4(activations)) return is_fp4(weights) ? Rate::Fp4 : Rate::Fp8;
  return Rate::Bf16;
}

double peak(Rate r, const hardware::Gpu& gpu) {
  switch (r) {
    case Rate::Tf32: return gpu.dense.bf16 * tf32_share * tera;
    case Rate::Bf16: return gpu.dense.bf16 * tera;
    case Rate::Int8: return gpu.dense.int8 * tera;
    case Rate::Fp8: return gpu.dense.fp8 * tera;
    case Rate::Fp4: return gpu.dense.fp4 * tera;
  }
  return 0;
}

// Activations reach the tensor cores in the format of the rate: the user's own where it is of that width.
double operand_bytes(Rate r, Format activations) {
  switch (r) {
    case Rate::Tf32: return fp32_bytes;
    case Rate::Bf16: return bf16_bytes;
    case Rate::Int8: return precision::activation_bytes(Format::Int8);
    case Rate::Fp8: return precision::activation_bytes(is_fp8(activations) ? activations : Format::Fp8);
    case Rate::Fp4: return precision::activation_bytes(activations);
  }
  return bf16_bytes;
}

}  // namespace

std::string_view name(Rate r) {
  constexpr std::array<std::string_view, 5> names = {"tf32", "bf16", "int8", "fp8", "fp4"};
  return names[static_cast<std::size_t>(r)];
}

MatrixMath matrix_math(Format weights, Format activations, const hardware::Gpu& gpu, const Efficiency& efficiency) {
  MatrixMath m;
  m.rate = wanted(weights, activations);
  if (peak(m.rate, gpu) <= 0) m.rate = Rate::Bf16;
  m.flops_per_s = peak(m.rate, gpu);
  m.weight_bytes = precision::bytes_per_element(weights);
  m.activation_bytes = operand_bytes(m.rate, activations);
  m.efficiency = m.rate == Rate::Fp4                           ? efficiency.fp4
                 : m.rate == Rate::Fp8 || m.rate == Rate::Int8 ? efficiency.fp8
                                                               : efficiency.bf16;
  return m;
}

namespace {

// Whether kernels use activations in this format at all where the weights have that one.
bool uses(Format weights, Format activations) {
  if (weights == Format::Float32 || weights == Format::BFloat16 || weights == Format::Float16) return false;
  if (activations == Format::Int8) return weights == Format::Int8 || is_int4(weights);
  if (is_fp4(activations)) return is_fp4(weights);
  return is_fp8(activations) && weights != Format::Int8;
}

}  // namespace

void check_activations(const Precision& p, const model::Architecture& a, core::Problems& problems,
                       const std::string& place) {
  if (is_int4(p.activations) || p.activations == Format::Float32) {
    problems.add(place + "/activations", "no engine computes with {} activations; use bf16, fp8 or nvfp4",
                 precision::name(p.activations));
    return;
  }
  if (p.activations == Format::BFloat16 || p.activations == Format::Float16) return;
  const bool experts = a.moe && a.moe->layers > 0;
  const bool mlp = a.dense_layers > 0 || (experts && a.moe->shared_intermediate > 0);
  const model::TensorFormats& w = p.weights;
  if (uses(w.attention, p.activations) || (mlp && uses(w.mlp, p.activations)) ||
      (experts && uses(w.experts, p.activations)))
    return;
  const Format widest = mlp ? w.mlp : w.experts;
  problems.add(place + "/activations",
               "no tensor core multiplies {} weights by {} activations; use bf16 activations, or weights in {} too",
               precision::name(widest), precision::name(p.activations), precision::name(p.activations));
}

void check_precision(const Precision& p, const model::Architecture& a, const hardware::Gpu& gpu,
                     core::Problems& problems, const std::string& place, std::vector<std::string>& warnings) {
  check_activations(p, a, problems, place);
  const bool cacheable = p.kv_cache == Format::BFloat16 || p.kv_cache == Format::Float16 || p.kv_cache == Format::Fp8 ||
                         p.kv_cache == Format::Int8 || p.kv_cache == Format::Nvfp4;
  if (!cacheable) {
    problems.add(place + "/kv_cache", "no engine caches keys and values in {}; use bf16, fp8, int8 or nvfp4",
                 precision::name(p.kv_cache));
  }
  if (p.conversion == Conversion::Fused && !gpu.architecture.starts_with("blackwell")) {
    problems.add(place + "/conversion",
                 "the tensor pipeline of {} does not convert its inputs; use \"kernel\", or \"stack\" for what its "
                 "engines fuse into other kernels",
                 gpu.name);
  }
  const bool experts = a.moe && a.moe->layers > 0;
  const auto warn = [&](std::string_view label, Format format) {
    const Rate r = wanted(format, p.activations);
    if (peak(r, gpu) > 0) return;
    warnings.push_back(
        fmt::format("{} has no {} tensor rate: {} weights in {} are computed as weight-only, at the bf16 rate",
                    gpu.name, name(r), label, precision::name(format)));
  };
  warn("attention", p.weights.attention);
  // What a policy chose by block is among what the GPU multiplies.
  const bool stated = p.weights.feed_forward.empty();
  if (stated && (a.dense_layers > 0 || (experts && a.moe->shared_intermediate > 0))) warn("mlp", p.weights.mlp);
  if (stated && experts) warn("experts", p.weights.experts);
  warn("lm_head", p.weights.lm_head);
}

}  // namespace servecast::cost
