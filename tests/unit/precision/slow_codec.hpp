// The codecs again, slowly: every code point compared in exact arithmetic. long double holds FP32 values, code points
// and their differences exactly wherever these tests look (64 bits of significand, values within 2^-40 of each other's
// scale), and rounding to nearest even is "the nearest code; of two equally near the even one".
#pragma once

#include "precision/minifloat.hpp"

#include <cmath>
#include <cstdint>

namespace servecast::test {

// Magnitude of a finite code, from the definition: 2^(e) (1 + m), subnormals 2^(min) m.
inline long double code_value(const precision::Minifloat& f, std::uint32_t code) {
  const std::uint32_t one = std::uint32_t{1} << f.mantissa_bits;
  const auto fraction = static_cast<long double>(code % one) / one;
  const int biased = static_cast<int>(code / one);
  return biased == 0 ? std::ldexp(fraction, f.min_exponent) : std::ldexp(1 + fraction, f.min_exponent + biased - 1);
}

// Saturating. Requires: finite.
inline std::uint32_t slow_encode(const precision::Minifloat& f, float x) {
  const long double magnitude = std::fabs(static_cast<long double>(x));
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code <= f.max_code; ++code) {
    const long double now = std::fabs(code_value(f, code) - magnitude);
    const long double before = std::fabs(code_value(f, best) - magnitude);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return (std::signbit(x) ? f.sign_bit() : 0) | best;
}

}  // namespace servecast::test
