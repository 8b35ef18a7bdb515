#include "precision/scheme.hpp"

#include "core/error.hpp"

#include <array>

namespace servecast::precision {
namespace {

// Sources: NVFP4 as NVIDIA states it (16 elements, E4M3 and FP32 scales); MX formats as in OCP Microscaling Formats 1.0
// (32 elements, E8M0); fp8_block and fp8_tile as in the DeepSeek-V3 report (weights 128 x 128, activations 1 x 128);
// int4: symmetric groups with a 16-bit scale, as GPTQ and AWQ checkpoints without zero points. fp4_tensor is no product
// format: it shows what block scales are worth.
constexpr std::array<Scheme, 18> all = {{
    {"fp32", Element::Float32, Scale::None, 0, 0},
    {"bf16", Element::BFloat16, Scale::None, 0, 0},
    {"fp16", Element::Float16, Scale::None, 0, 0},
    {"fp8", Element::E4M3, Scale::Float32, 0, 0},
    {"fp8_channel", Element::E4M3, Scale::Float32, 1, 0},
    {"fp8_block", Element::E4M3, Scale::Float32, 128, 128},
    {"fp8_tile", Element::E4M3, Scale::Float32, 1, 128},
    {"mxfp8", Element::E4M3, Scale::Ue8m0, 1, 32},
    {"fp8_e5m2", Element::E5M2, Scale::Float32, 0, 0},
    {"mxfp8_e5m2", Element::E5M2, Scale::Ue8m0, 1, 32},
    {"int8", Element::Int8, Scale::Float32, 0, 0},
    {"int8_channel", Element::Int8, Scale::Float32, 1, 0},
    {"nvfp4", Element::E2M1, Scale::TwoLevel, 1, 16},
    {"mxfp4", Element::E2M1, Scale::Ue8m0, 1, 32},
    {"int4_g32", Element::Int4, Scale::BFloat16, 1, 32},
    {"int4_g128", Element::Int4, Scale::BFloat16, 1, 128},
    {"fp4_channel", Element::E2M1, Scale::Float32, 1, 0},
    {"fp4_tensor", Element::E2M1, Scale::Float32, 0, 0},
}};

std::int64_t blocks(std::int64_t extent, std::int64_t block) { return block == 0 ? 1 : (extent + block - 1) / block; }

}  // namespace

std::span<const Scheme> schemes() { return all; }

std::optional<Scheme> find_scheme(std::string_view name) {
  for (const Scheme& s : all)
    if (s.name == name) return s;
  return std::nullopt;
}

Scheme scheme_of(Format format) {
  const std::optional<Scheme> found = find_scheme(name(format));
  SERVECAST_ENSURE(found.has_value(), "no scheme quantises to {}", name(format));
  return *found;
}

int element_bits(Element element) {
  switch (element) {
    case Element::E2M1:
    case Element::Int4: return 4;
    case Element::E4M3:
    case Element::E5M2:
    case Element::Int8: return 8;
    case Element::BFloat16:
    case Element::Float16: return 16;
    case Element::Float32: return 32;
  }
  return 0;
}

int scale_bytes(Scale scale) {
  switch (scale) {
    case Scale::None: return 0;
    case Scale::Float32: return 4;
    case Scale::BFloat16: return 2;
    case Scale::Ue8m0:
    case Scale::TwoLevel: return 1;
  }
  return 0;
}

double bits_per_element(const Scheme& s, std::int64_t rows, std::int64_t columns) {
  SERVECAST_ENSURE(rows > 0 && columns > 0, "matrix of {} x {}", rows, columns);
  const std::int64_t scales = blocks(rows, s.block_rows) * blocks(columns, s.block_columns) * scale_bytes(s.scale) +
                              (s.scale == Scale::TwoLevel ? 4 : 0);
  return element_bits(s.element) + 8.0 * static_cast<double>(scales) / static_cast<double>(rows * columns);
}

}  // namespace servecast::precision
