// Times of kernels from fitted tables, sampled once into smooth curves and grids: what StepModel reads instead of a
// roofline. Every list of choices is in order of preference; the first that knows a shape answers for all sizes of its
// operator, and where none does the curve is empty and the roofline stands. Seconds per launch, inside a CUDA graph.
#pragma once

#include "cost/kernels/profile.hpp"
#include "cost/operators.hpp"
#include "cost/token_curve.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace servecast::cost {

// Tables that may time an operator of these types; of several tables the fastest at each size, as an engine that tunes
// its kernels picks. Decode attention goes by the type of the cache, prefill too.
struct TableChoice {
  std::vector<const kernels::Kernels*> tables;
  std::vector<kernels::DataType> types;  // empty: every type
  std::string kernel;                    // of routed experts: part of a kernel's name; empty: the one with most rows

  bool admits(kernels::DataType type) const;
};

// Choices by operator: a stack may use another stack's table for one operator.
struct KernelTables {
  using List = std::vector<TableChoice>;
  List gemm;
  List decode;
  List prefill;
  List moe;
  List all_reduce;
  List quantise = {};  // of activations to FP8
};

using hardware::Evidence;
using kernels::KernelTime;

// Over rows or tokens 1..most: 16 knots per octave, all multiples of 4 from 4 on, because kernels of other row counts
// differ and engines pad; isotonic in time, linear between knots.
class MeasuredCurve {
 public:
  using Function = std::function<std::optional<KernelTime>(double units)>;
  MeasuredCurve() = default;
  MeasuredCurve(std::int32_t most, const Function& f);  // empty where f knows nothing
  bool empty() const { return units_.empty(); }
  KernelTime at(double units) const;

 private:
  std::vector<double> units_;
  std::vector<KernelTime> times_;
};

// Decode attention over (decoders, context of each): 8 knots per octave, bilinear, non-decreasing along both.
class MeasuredDecode {
 public:
  using Function = std::function<std::optional<KernelTime>(double decoders, double context)>;
  MeasuredDecode() = default;
  MeasuredDecode(std::int32_t most_decoders, std::int32_t most_context, const Function& f);
  bool empty() const { return times_.empty(); }
  KernelTime at(double decoders, double context_sum) const;

 private:
  std::size_t columns_ = 0;
  std::vector<KernelTime> times_;
};

// Prefill attention of one sequence over its length A(b). A chunk [a, b) takes A(b) - A(a), not less than A(b - a).
class MeasuredPrefill {
 public:
  using Function = std::function<std::optional<KernelTime>(double tokens)>;
  MeasuredPrefill() = default;
  MeasuredPrefill(std::int32_t most, double layers, const Function& f);
  bool empty() const { return curve_.empty(); }
  double chunk_s(std::int32_t from, std::int32_t to) const;
  // Replaces the time of every length by f(tokens, seconds).
  void change(std::int32_t most, const std::function<double(double tokens, double seconds)>& f);
  // All layers of the class together.
  const TokenCurve& curve() const { return curve_; }
  Evidence origin(std::int32_t from) const { return from > 0 ? Evidence::Derived : origin_; }
  bool extrapolated(std::int32_t to) const;

 private:
  TokenCurve curve_;
  Evidence origin_ = Evidence::Measured;
  std::int64_t first_inside_ = 0;  // tokens
  std::int64_t last_inside_ = 0;
};

inline std::int64_t chunk_ps(const TokenCurve& a, std::int32_t from, std::int32_t to) {
  if (from == 0) return a.at(to);
  return std::max(a.at(to) - a.at(from), a.at(to - from));
}

// One class of attention layers.
struct MeasuredAttention {
  double layers = 0;
  MeasuredDecode decode;
  MeasuredPrefill prefill;
};

struct MeasuredLimits {
  std::int32_t tokens = 0;
  std::int32_t decoders = 0;
  std::int32_t context = 0;
};

// The table type of a matrix multiplication; nothing: no table measures it.
std::optional<kernels::DataType> data_type(precision::Format weights, precision::Format activations);

// Curve of a Gemm, Experts or AllReduce operator; empty for other kinds.
MeasuredCurve measured_curve(const KernelTables& t, const OperatorInput& in, const Operator& op, std::int32_t most);
// The layers that see the whole context (0) or a sliding window (1). Empty for latent attention and chunked windows.
MeasuredAttention measured_attention(const KernelTables& t, const OperatorInput& in, int layer_class,
                                     const MeasuredLimits& limits);
// Whether a table answers for FP8 multiplications of the model. Their times contain the conversion of their inputs.
bool measures_fp8(const KernelTables& t, const OperatorInput& in);
// Tables of routed experts time both multiplications, the activation between them, permutation and combination as one:
// replaces these operators by one, for every group of blocks whose experts a table knows.
void merge_measured_experts(const KernelTables& t, const OperatorInput& in, std::vector<Operator>& operators);

}  // namespace servecast::cost
