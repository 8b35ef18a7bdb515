// Families of measured kernels, their data types, and for each family its features (what a row of a table states) and
// physical parameters by name. The order of both is the order in every array of doubles of this layer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace servecast::cost::kernels {

enum class Family : std::uint8_t {
  Gemm,
  Decode,
  Prefill,
  MlaDecode,
  MlaPrefill,
  MlaBmm,
  Moe,
  Quantise,
  DispatchLowLatency,
  CombineLowLatency,
  DispatchNormal,
  CombineNormal
};
inline constexpr std::string_view family_names[] = {
    "gemm", "decode",   "prefill",     "mla_decode", "mla_prefill",     "mla_bmm",
    "moe",  "quantise", "dispatch_ll", "combine_ll", "dispatch_normal", "combine_normal"};
constexpr std::span<const std::string_view> names_of(Family) { return family_names; }
inline constexpr std::size_t family_count = std::size(family_names);

// Formats as operator tables name them. Int4, Mxfp4A16: weights only; Mxfp4A8: MXFP8 activations.
enum class DataType : std::uint8_t { Bf16, Fp8, Fp8Block, Nvfp4, Int4, Mxfp4A16, Mxfp4A8 };
inline constexpr std::string_view data_type_names[] = {"bfloat16", "fp8",         "fp8_block",       "nvfp4",
                                                       "int4_wo",  "w4a16_mxfp4", "w4a8_mxfp4_mxfp8"};
constexpr std::span<const std::string_view> names_of(DataType) { return data_type_names; }
inline constexpr std::size_t data_type_count = std::size(data_type_names);

inline constexpr std::size_t max_features = 10;
inline constexpr std::size_t max_parameters = 9;
using Features = std::array<double, max_features>;
using Parameters = std::array<double, max_parameters>;

// A parameter theta = exp(z): where its fit starts and what it may become.
struct Parameter {
  std::string_view name;
  double start = 1;
  double low = 0;
  double high = 0;
};

struct FamilyInfo {
  std::span<const std::string_view> features;
  std::span<const Parameter> parameters;
};
const FamilyInfo& info(Family family);

}  // namespace servecast::cost::kernels
