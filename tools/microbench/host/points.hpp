// What can be measured: one struct per kind of kernel, each one row of a table. Sizes are elements unless a name says
// bytes; every size is positive. A point says what, never how long or on which device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace servecast::microbench {

enum class Format : std::uint8_t { Bf16, Fp8, Nvfp4 };
// As operator tables name them.
inline constexpr std::string_view format_names[] = {"bfloat16", "fp8", "nvfp4"};
constexpr std::string_view name_of(Format f) { return format_names[static_cast<std::size_t>(f)]; }

// out[m][n] = x[m][k] w[n][k]^T, output bf16.
struct Gemm {
  Format format = Format::Bf16;
  std::int64_t m = 0, n = 0, k = 0;
};

// `queries` new tokens of each sequence after `cached` ones, over a paged cache that holds the keys of both.
// Prefill: cached 0. Decode: queries 1, cached > 0. Speculative verification: several queries after a cache.
struct Attention {
  Format kv = Format::Bf16;
  std::int64_t batch = 0, queries = 0, cached = 0, heads = 0, kv_heads = 0, head_dim = 0;
};

// rows x width bf16 activations to a narrower format: the search for the tensor's scale, or the scaling pass.
struct Quantise {
  Format to = Format::Fp8;
  bool scale_search = false;
  std::int64_t rows = 0, width = 0;
};

// Routed experts of one layer on the busiest of `ep` ranks: permute, two grouped products with SiLU between, unpermute.
// alpha 0: balanced routing, else the exponent of the power law of expert weights.
struct Experts {
  std::int64_t tokens = 0, hidden = 0, inter = 0, top_k = 0, experts = 0, ep = 1;
  double alpha = 0;
};

enum class CollectiveOp : std::uint8_t { AllReduce, AllToAll };
// NCCL over `gpus` GPUs; elements of two bytes, counted as nccl-tests does (the whole buffer of one rank).
struct Collective {
  CollectiveOp op = CollectiveOp::AllReduce;
  bool graph = false;
  std::int64_t gpus = 2, elements = 0;
};

enum class Quantity : std::uint8_t {
  HbmRead,
  HbmWrite,
  HbmCopy,
  L2Read,
  ChaseLatency,
  SmGroups,
  L2NearLatency,
  L2FarLatency,
  L2NearRead,
  L2FarRead,
  LaunchInterval,
  LaunchRoundTrip,
  GraphLaunch,
  GraphKernel,
  HostToDevice,
  DeviceToHost,
  PeerCopy,
  Nvfp4Dequantise,
  IdlePower,
  HbmPower,
  GemmPower
};
struct QuantityInfo {
  std::string_view name;
  std::string_view unit;
};
inline constexpr QuantityInfo quantities[] = {
    {"hbm_read", "GB/s"},     {"hbm_write", "GB/s"},        {"hbm_copy", "GB/s"},       {"l2_read", "GB/s"},
    {"chase_latency", "ns"},  {"sm_groups", "SMs"},         {"l2_near_latency", "ns"},  {"l2_far_latency", "ns"},
    {"l2_near_read", "GB/s"}, {"l2_far_read", "GB/s"},      {"launch_interval", "us"},  {"launch_round_trip", "us"},
    {"graph_launch", "us"},   {"graph_kernel", "us"},       {"host_to_device", "GB/s"}, {"device_to_host", "GB/s"},
    {"peer_copy", "GB/s"},    {"nvfp4_dequantise", "GB/s"}, {"idle_power", "W"},        {"hbm_power", "W"},
    {"gemm_power", "W"}};
constexpr const QuantityInfo& info(Quantity q) { return quantities[static_cast<std::size_t>(q)]; }

// A number of the machine rather than of a kernel. bytes: size of the transfer or of the working set, 0 where it has
// none. detail: the peer GPU of a copy, which group of SMs (0, 1), kernels of a graph; else 0.
struct Machine {
  Quantity quantity = Quantity::HbmRead;
  std::int64_t bytes = 0;
  std::int64_t detail = 0;
};

using Point = std::variant<Gemm, Attention, Quantise, Experts, Collective, Machine>;

}  // namespace servecast::microbench
