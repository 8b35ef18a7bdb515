// Which tensor-core rate a matrix multiplication runs at, from the formats of its weights and activations and from what
// the GPU has. The wider of the two formats decides; a format the GPU cannot multiply becomes weight-only: stored as it
// is, computed in BF16.
#pragma once

#include "core/error.hpp"
#include "cost/efficiency.hpp"
#include "hardware/gpu.hpp"
#include "model/architecture.hpp"
#include "precision/format.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::cost {

// Who turns the inputs of FP8 and FP4 multiplications into their format. Stack: as many kernels as the stack's host
// constants say, which were fitted to its serving; Fused: none, the tensor pipeline or the kernel before does it;
// Kernel: one kernel of its own for each input, with a round trip through memory.
enum class Conversion : std::uint8_t { Stack, Fused, Kernel };
inline constexpr std::string_view conversion_names[] = {"stack", "fused", "kernel"};
constexpr std::span<const std::string_view> names_of(Conversion) { return conversion_names; }

// Formats of one pool, resolved: nothing is left to a default of the checkpoint. Where weights.feed_forward chooses by
// block, inputs of the feed-forward part have the format of its weights.
struct Precision {
  model::TensorFormats weights;
  precision::Format activations = precision::Format::BFloat16;  // of classes whose weights are quantised
  precision::Format kv_cache = precision::Format::BFloat16;
  Conversion conversion = Conversion::Stack;
};

enum class Rate : std::uint8_t { Tf32, Bf16, Int8, Fp8, Fp4 };
std::string_view name(Rate r);

struct MatrixMath {
  Rate rate = Rate::Bf16;
  double flops_per_s = 0;       // dense peak
  double weight_bytes = 2;      // per element
  double activation_bytes = 2;  // per element
  GemmEfficiency efficiency;
};

MatrixMath matrix_math(precision::Format weights, precision::Format activations, const hardware::Gpu& gpu,
                       const Efficiency& efficiency);

// Refuses activations in a format that no kernel multiplies this model's weights by.
void check_activations(const Precision& p, const model::Architecture& a, core::Problems& problems,
                       const std::string& place);

// Refuses formats that no engine computes or caches in; warns, by tensor class, where the GPU lacks a rate.
void check_precision(const Precision& p, const model::Architecture& a, const hardware::Gpu& gpu,
                     core::Problems& problems, const std::string& place, std::vector<std::string>& warnings);

}  // namespace servecast::cost
