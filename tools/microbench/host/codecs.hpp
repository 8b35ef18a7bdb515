// Exact number formats of the host references: BF16, E4M3, E2M1 and two-level NVFP4. Round to nearest, ties to even;
// finite values beyond the range saturate. Constexpr, so that kernels decode with the same code; kernels encode with
// the hardware's conversions where there are any. That is why they stand beside the precision layer's codecs, which
// kernels cannot call; a test holds the two equal in every code.
#pragma once

#include <bit>
#include <cstdint>

namespace servecast::microbench::codec {

constexpr float bf16_to_float(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}
constexpr std::uint16_t float_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);  // NaN stays NaN
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

// E4M3 without infinities: bias 7, NaN 0x7f, largest 448, smallest subnormal 2^-9.
constexpr float e4m3_to_float(std::uint8_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x80U) << 24;
  const std::uint32_t exponent = (code >> 3) & 15U, mantissa = code & 7U;
  if (exponent == 15 && mantissa == 7) return std::bit_cast<float>(sign | 0x7fc00000U);
  const float magnitude = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9F
                                        : std::bit_cast<float>((exponent + 120U) << 23 | mantissa << 20);
  return sign != 0 ? -magnitude : magnitude;
}

// Magnitude in units of 2^-9 (E4M3) or 2^-1 (E2M1) to a code, by the exponent it falls into. `scaled` is exact, because
// scaling by a power of two is.
constexpr std::uint32_t nearest_even(float magnitude) {
  const auto whole = static_cast<std::uint32_t>(magnitude);
  const float rest = magnitude - static_cast<float>(whole);
  return whole + (rest > 0.5F || (rest == 0.5F && (whole & 1U) != 0) ? 1U : 0U);
}

constexpr std::uint8_t float_to_e4m3(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint8_t>((bits >> 24) & 0x80U);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint8_t>(sign | 0x7fU);
  const float magnitude = std::bit_cast<float>(bits & 0x7fffffffU);
  if (magnitude > 448) return static_cast<std::uint8_t>(sign | 0x7eU);
  std::uint32_t exponent = (bits >> 23) & 255U;  // biased by 127
  exponent = exponent < 121 ? 121 : exponent;    // 2^-6: the least normal
  // in units of the exponent's last place, 2^(exponent - 127 - 3)
  const float unit = std::bit_cast<float>((exponent - 3U) << 23);
  const std::uint32_t steps = nearest_even(magnitude / unit);   // 0..16; 16 carries into the next exponent
  const std::uint32_t code = ((exponent - 121U) << 3) + steps;  // subnormals: exponent field 0
  return static_cast<std::uint8_t>(sign | (code > 0x7eU ? 0x7eU : code));
}

// E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; no NaN, which saturates as the hardware's conversion does.
constexpr float e2m1_to_float(std::uint8_t code) {
  const std::uint32_t exponent = (code >> 1) & 3U, mantissa = code & 1U;
  const float magnitude = exponent == 0 ? static_cast<float>(mantissa) * 0.5F
                                        : std::bit_cast<float>((exponent + 126U) << 23 | mantissa << 22);
  return (code & 8U) != 0 ? -magnitude : magnitude;
}
constexpr std::uint8_t float_to_e2m1(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 7;
  const auto sign = static_cast<std::uint8_t>((bits >> 28) & 8U);
  const float magnitude = std::bit_cast<float>(bits & 0x7fffffffU);
  if (magnitude > 6) return static_cast<std::uint8_t>(sign | 7U);
  std::uint32_t exponent = (bits >> 23) & 255U;
  exponent = exponent < 127 ? 127 : exponent;
  const float unit = std::bit_cast<float>((exponent - 1U) << 23);
  const std::uint32_t code = ((exponent - 127U) << 1) + nearest_even(magnitude / unit);
  return static_cast<std::uint8_t>(sign | (code > 7U ? 7U : code));
}

// NVFP4: blocks of 16 share an E4M3 scale, the tensor an FP32 one. One order of operations, so that kernels and host
// agree in every bit: no operation here can be contracted.
constexpr float nvfp4_tensor_scale(float largest) { return largest / (6.0F * 448.0F); }
constexpr std::uint8_t nvfp4_block_scale(float block_largest, float tensor_scale) {
  return tensor_scale > 0 ? float_to_e4m3(block_largest / 6.0F / tensor_scale) : std::uint8_t{0};
}
constexpr float nvfp4_step(std::uint8_t block_scale, float tensor_scale) {
  return e4m3_to_float(block_scale) * tensor_scale;
}
// What E2M1 rounds; 0 for a block without scale.
constexpr float nvfp4_ratio(float x, float step) { return step > 0 ? x / step : 0.0F; }

}  // namespace servecast::microbench::codec
