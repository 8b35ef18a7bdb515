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
#include <string>
#include <string_view>
#include <vector>

namespace servecast::cost {

// Formats of one pool, resolved: nothing is left to a default of the checkpoint.
struct Precision {
  model::TensorFormats weights;
  precision::Format activations = precision::Format::BFloat16;  // of classes whose weights are quantised
  precision::Format kv_cache = precision::Format::BFloat16;
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
