// The kernels of one transformer step on one tensor-parallel rank, except the attention cores (attention.hpp), as
// coefficients per token or per sampled row (SPEC 3.1-3.5). FLOPs count a multiply-add as 2; bytes are HBM traffic.
// Expert and pipeline parallelism are not modelled; experts are split tensor-wise.
#pragma once

#include "cost/efficiency.hpp"
#include "cost/host.hpp"
#include "cost/rate.hpp"
#include "fabric/alpha_beta.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::cost {

// Gemm: one matrix multiplication. Experts: a grouped one over the routed experts. Small: a memory-bound elementwise
// kernel. AllReduce, AllGather: over the tensor-parallel group. Convert: a kernel that turns the inputs of a
// multiplication into its format.
enum class Kind : std::uint8_t { Gemm, Experts, Small, AllReduce, AllGather, Convert };

struct Operator {
  std::string_view name;
  Kind kind = Kind::Small;
  double count = 0;          // launches per step
  double flops = 0;          // per unit (token or row; Experts: per token copy) and launch
  double weight_bytes = 0;   // per launch; Experts: per expert
  double unit_bytes = 0;     // per unit and launch; collectives: of the full buffer
  std::int32_t experts = 0;  // Experts only
  std::int32_t top_k = 0;
  MatrixMath math = {};  // Gemm and Experts only
  double n = 0;          // widths of a Gemm on this rank: of its output, of its input
  double k = 0;
  precision::Format weights = precision::Format::BFloat16;      // Gemm and Experts; Convert: the format made
  precision::Format activations = precision::Format::BFloat16;  // Gemm and Experts only: as the pool states them
  std::string_view label = {};  // format of a group of blocks, where formats differ by block
  double rows = 1;              // Convert only: per token
};

// "mlp down", or "mlp down nvfp4" where formats differ by block.
std::string full_name(const Operator& op);

struct OperatorInput {
  const model::Architecture& architecture;
  const hardware::Gpu& gpu;
  const Precision& precision;
  std::int32_t tensor = 1;
  const Efficiency& efficiency;
  const HostConstants& host;
};

std::vector<Operator> token_operators(const OperatorInput& in);
std::vector<Operator> row_operators(const OperatorInput& in);

// What the operators run on.
struct Device {
  double hbm_bytes_per_s = 0;
  Efficiency efficiency;
  double small_kernel_s = 0;
  fabric::Group group;
};

// All launches of one operator. compute_s and memory_s are the two rooflines; the larger one counts.
struct OperatorTime {
  double flops = 0;
  double bytes = 0;
  double compute_s = 0;
  double memory_s = 0;
  double floor_s = 0;    // launch floors
  double latency_s = 0;  // of collectives
  double bandwidth_s = 0;
  double bytes_sent = 0;  // per rank

  double roofline_s() const { return compute_s > memory_s ? compute_s : memory_s; }
  double total_s() const { return roofline_s() + floor_s + latency_s + bandwidth_s; }
};

// graph: replayed from a CUDA graph; otherwise no kernel is faster than its launch. Non-decreasing in units.
OperatorTime evaluate(const Operator& op, double units, const Device& device, bool graph);

// Expected distinct experts hit by `tokens` independent tokens that pick k of E uniformly (SPEC 3.4).
double distinct_experts(std::int32_t experts, std::int32_t top_k, double tokens);

// Share of the peak that a GEMM of m rows reaches.
double gemm_share(const GemmEfficiency& g, double blend_tokens, double m);

}  // namespace servecast::cost
