// What the makers of operators share: widths of one rank, and operators from them. Internal to this layer.
#pragma once

#include "cost/operators.hpp"
#include "model/blocks.hpp"
#include "model/footprint.hpp"

#include <string_view>
#include <vector>

namespace servecast::cost {

inline constexpr double act = 2.0;  // bytes of an activation between kernels: BF16

// Shorthand over one input; local widths carry the suffix of the rank.
struct Shape {
  const OperatorInput& in;
  const model::Architecture& a;
  model::Blocks blocks;
  double layers, hidden, tensor;

  explicit Shape(const OperatorInput& i)
      : in(i), a(i.architecture), blocks(model::blocks_of(a)), layers(a.layers), hidden(a.hidden), tensor(i.tensor) {}

  double halves() const { return blocks.mixers() + blocks.feed_forwards(); }
  MatrixMath math(precision::Format weights, precision::Format activations) const {
    return matrix_math(weights, activations, in.gpu, in.efficiency);
  }
  MatrixMath math(precision::Format weights) const { return math(weights, in.precision.activations); }

  Operator gemm(std::string_view name, double count, double n, double k, precision::Format weights) const {
    return gemm(name, count, n, k, {weights, in.precision.activations});
  }
  struct Operands {
    precision::Format weights, activations;
    std::string_view label = {};
  };
  Operator gemm(std::string_view name, double count, double n, double k, const Operands& o) const {
    const MatrixMath m = math(o.weights, o.activations);
    return {name,
            Kind::Gemm,
            count,
            2.0 * n * k,
            n * k * m.weight_bytes,
            k * m.activation_bytes + n * act,
            0,
            0,
            m,
            n,
            k,
            o.weights,
            o.activations,
            o.label};
  }
  Operator small(std::string_view name, double count, double unit_bytes) const {
    return {name, Kind::Small, count, 0, 0, unit_bytes};
  }
  Operator collective(std::string_view name, Kind kind, double count, double unit_bytes) const {
    return {name, kind, count, 0, 0, unit_bytes};
  }
};

// One group of blocks whose feed-forward part has the same formats.
struct FeedForward {
  model::FeedForwardGroup group;
  precision::Format activations = precision::Format::BFloat16;
  std::string_view label;  // empty where there is one group

  double layers() const { return group.dense_layers() + group.moe_layers; }
  Shape::Operands mlp() const { return {group.mlp, activations, label}; }
  Shape::Operands experts() const { return {group.experts, activations, label}; }
};

// The groups of a model: one, with the pool's activations, unless formats differ by block.
std::vector<FeedForward> feed_forward(const OperatorInput& in);

// Attention and states, all but their cores.
void add_mixers(std::vector<Operator>& ops, const Shape& s);

// Conversions of the inputs of multiplications, as the pool's precision says they are done.
void add_conversions(std::vector<Operator>& ops, const Shape& s, const std::vector<FeedForward>& groups);

}  // namespace servecast::cost
