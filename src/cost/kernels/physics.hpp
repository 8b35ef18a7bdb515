// The physics of every kernel family: smooth rooflines with five to nine parameters, and the coordinates of their
// residual surfaces. Pure functions of (parameters, machine and format, features); microseconds. docs/models/kernels.md
// has the formulas and what each parameter means.
#pragma once

#include "cost/kernels/family.hpp"
#include "cost/kernels/machine.hpp"
#include "cost/kernels/surface.hpp"

#include <string>
#include <vector>

namespace servecast::cost::kernels {

// Which measurements a fit describes. variant: decode "mha", "gqa", "wide", each also "-windowed"; prefill "" or
// "windowed"; MLA "kernel" or "module"; moe "skewed" or "balanced", each also "-nongated"; mla_bmm "before", "after";
// quantise "scale" or "compute_scale". kernel: source of a MoE kernel.
struct Key {
  Family family = Family::Gemm;
  DataType type = DataType::Bf16;  // of weights, of attention arithmetic, of an MLA module's projections
  DataType kv = DataType::Bf16;
  std::string variant;
  std::string kernel;
};
bool operator==(const Key& a, const Key& b);

// A key on a machine, as numbers.
struct Context {
  Family family = Family::Gemm;
  Machine machine;
  double peak = 0;          // FLOP per us of the matrix format
  double weight_bytes = 2;  // per element
  double activation_bytes = 2;
  double kv_bytes = 2;
  double matrices = 3;  // per expert
  bool wide = false;    // decode: cost follows query heads
  bool mha = false;     // decode: one query head per kv head
  bool module = false;
};
Context context(const Key& key, const Machine& machine);

struct Physics {
  double us = 0;
  double compute_us = 0;
  double memory_us = 0;
};
Physics physics(const Context& c, const Parameters& theta, const Features& x, bool cold);

// Surfaces of a key, by the values its rows take (head sizes become an axis): their knots.
std::vector<std::vector<std::vector<double>>> surface_axes(const Key& key, const std::vector<double>& head_dims,
                                                           bool unaligned);
// Coordinates of surface `term`; false where it does not apply.
bool coordinates(const Context& c, std::size_t term, const Features& x, Coordinates& out);

// Index of the head size among the features, or max_features.
std::size_t head_dim_feature(Family family);

}  // namespace servecast::cost::kernels
