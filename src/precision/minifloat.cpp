#include "precision/minifloat.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace servecast::precision {
namespace {

constexpr int float_fraction = 23;
constexpr int float_min_exponent = -126;
constexpr std::uint32_t float_magnitude = 0x7FFFFFFFU;
constexpr std::uint32_t float_infinity = 0x7F800000U;
constexpr std::uint32_t float_hidden_bit = 1U << float_fraction;

// A finite magnitude as significand * 2^(exponent - 23); subnormals keep the smallest exponent.
struct Parts {
  std::uint32_t significand = 0;
  int exponent = float_min_exponent;
};

Parts parts_of(std::uint32_t magnitude) {
  const int biased = static_cast<int>(magnitude >> float_fraction);
  const std::uint32_t fraction = magnitude & (float_hidden_bit - 1);
  if (biased == 0) return {fraction, float_min_exponent};
  return {fraction | float_hidden_bit, biased - 1 + float_min_exponent};
}

// significand / 2^shift, to nearest, ties to even. Requires: significand < 2^24, shift >= 0.
std::uint32_t shifted(std::uint32_t significand, int shift) {
  if (shift == 0) return significand;
  if (shift > float_fraction + 2) return 0;  // below half of the last place
  const std::uint32_t whole = significand >> shift;
  const std::uint32_t rest = significand & ((1U << shift) - 1);
  const std::uint32_t half = 1U << (shift - 1);
  const bool up = rest > half || (rest == half && (whole & 1U) != 0);
  return whole + (up ? 1U : 0U);
}

}  // namespace

// In units of its last place, a magnitude of exponent e is n * 2^(e - m). Codes count on from the smallest normal: a
// carry out of n moves into the exponent by itself.
std::uint32_t encode(const Minifloat& f, float value, Overflow overflow) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & float_magnitude;
  if (magnitude > float_infinity) return f.nan_code != 0 ? f.nan_code : f.max_code;
  const std::uint32_t sign = (bits >> 31) != 0 ? f.sign_bit() : 0;
  const std::uint32_t beyond = overflow == Overflow::Saturate ? f.max_code
                               : f.infinity                   ? f.max_code + 1
                               : f.nan_code != 0              ? f.nan_code
                                                              : f.max_code;
  if (magnitude == float_infinity) return sign | beyond;
  const Parts p = parts_of(magnitude);
  const int exponent = std::max(p.exponent, f.min_exponent);
  const std::uint32_t n = shifted(p.significand, exponent - p.exponent + float_fraction - f.mantissa_bits);
  const std::uint32_t code = (static_cast<std::uint32_t>(exponent - f.min_exponent) << f.mantissa_bits) + n;
  return sign | (code > f.max_code ? beyond : code);
}

float decode(const Minifloat& f, std::uint32_t code) {
  SERVECAST_ENSURE(code < 2 * f.sign_bit(), "code {} of a format of {} bits", code, f.bits());
  const std::uint32_t magnitude = code & (f.sign_bit() - 1);
  const float sign = (code & f.sign_bit()) != 0 ? -1.0F : 1.0F;
  if (magnitude > f.max_code) {
    const bool infinite = f.infinity && magnitude == f.max_code + 1;
    return std::bit_cast<float>((infinite ? float_infinity : 0x7FC00000U) | (sign < 0 ? ~float_magnitude : 0U));
  }
  const int biased = static_cast<int>(magnitude >> f.mantissa_bits);
  const int fraction = static_cast<int>(magnitude & ((1U << f.mantissa_bits) - 1));
  const int units = biased == 0 ? fraction : fraction + (1 << f.mantissa_bits);
  const int exponent = std::max(biased, 1) - 1 + f.min_exponent - f.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(units), exponent);  // exact: a power of two times few bits
}

float ue8m0_decode(std::uint32_t code) {
  SERVECAST_ENSURE(code < 256, "an E8M0 code of {}", code);
  if (code == ue8m0_nan) return std::bit_cast<float>(0x7FC00000U);
  return code == 0 ? 0x1p-127F : std::bit_cast<float>(code << float_fraction);
}

std::uint32_t ue8m0_floor(float value, int shift) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value);
  SERVECAST_ENSURE(magnitude < float_infinity, "no scale for {}", value);
  if (magnitude == 0) return 0;
  const Parts p = parts_of(magnitude);
  const int log2 = p.exponent - float_fraction + std::bit_width(p.significand) - 1;
  return static_cast<std::uint32_t>(std::clamp(log2 - shift + 127, 0, 254));
}

int round_to_integer(float value, int most) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & float_magnitude;
  if (magnitude > float_infinity) return 0;
  const bool negative = (bits >> 31) != 0;
  int n = most;
  if (magnitude < std::bit_cast<std::uint32_t>(128.0F)) {
    const Parts p = parts_of(magnitude);
    n = std::min(most, static_cast<int>(shifted(p.significand, std::min(31, float_fraction - p.exponent))));
  }
  return negative ? -n : n;
}

}  // namespace servecast::precision
