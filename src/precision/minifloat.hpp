// Element codecs: FP32 to small formats and back, by integer arithmetic on the bits. Rounding is to nearest, ties to
// even code; subnormals are exact on both sides; nothing depends on the rounding mode. A code is the sign bit above the
// magnitude; magnitudes are ordered like their codes.
// Layouts: E4M3 and E5M2 as in Micikevicius et al., "FP8 formats for deep learning", 2022 (E4M3 has no infinity and one
// NaN, 448 at most; E5M2 is IEEE-like, 57,344 at most); E2M1 and E8M0 as in OCP Microscaling Formats 1.0.
#pragma once

#include <cstdint>

namespace servecast::precision {

struct Minifloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int min_exponent = 0;        // of the smallest normal number
  std::uint32_t max_code = 0;  // magnitude of the largest finite value
  bool infinity = false;       // the code after max_code
  std::uint32_t nan_code = 0;  // magnitude that a NaN becomes; 0: the format has none
  float max = 0;               // value of max_code
  int max_exponent = 0;        // floor(log2(max))

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  std::uint32_t sign_bit() const { return std::uint32_t{1} << (exponent_bits + mantissa_bits); }
};

inline constexpr Minifloat e2m1{2, 1, 0, 0x7, false, 0, 6.0F, 2};
inline constexpr Minifloat e4m3{4, 3, -6, 0x7E, false, 0x7F, 448.0F, 8};
inline constexpr Minifloat e5m2{5, 2, -14, 0x7B, true, 0x7F, 57344.0F, 15};
inline constexpr Minifloat float16{5, 10, -14, 0x7BFF, true, 0x7E00, 65504.0F, 15};
inline constexpr Minifloat bfloat16{8, 7, -126, 0x7F7F, true, 0x7FC0, 0x1.FEp127F, 127};

// What becomes of values above the largest: its code (quantisers), or infinity, or NaN where there is none (plain
// conversion). Infinities are such values. A NaN becomes nan_code, positive; where the format has no NaN, its largest
// value, positive, as the conversion instructions of GPUs do.
enum class Overflow : std::uint8_t { Saturate, Special };

std::uint32_t encode(const Minifloat& f, float value, Overflow overflow = Overflow::Saturate);
float decode(const Minifloat& f, std::uint32_t code);  // Requires: code < 2^bits

// E8M0, unsigned: 2^(code - 127), and 255 for NaN. Codes 0 to 254 are the powers 2^-127 to 2^127.
inline constexpr std::uint32_t ue8m0_nan = 255;
float ue8m0_decode(std::uint32_t code);  // Requires: code < 256
// Code of 2^(floor(log2(value)) - shift), within 0 to 254; 0 for zero. Requires: value >= 0, finite.
std::uint32_t ue8m0_floor(float value, int shift);

// Round to nearest, ties to even, then to [-most, most]; NaN gives 0. Requires: 0 < most < 128.
int round_to_integer(float value, int most);

}  // namespace servecast::precision
