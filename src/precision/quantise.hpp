// Matrices to quantised bytes and back, to the bit: what a quantisation kernel must store, step by step in FP32. Each
// operation named here is one correctly rounded FP32 operation; a kernel that does the same gives the same bytes.
//   amax      largest finite magnitude of a block (of the tensor: of all elements)
//   FP32      s = max(amax / max, 2^-126)                           x / s        becomes an element
//   BF16      s = BF16(max(amax / max, 2^-126))                     x / s
//   UE8M0     s = 2^(floor(log2(amax)) - floor(log2(max)))          x / s
//   two-level t = max(amax(tensor) / 2688, 2^-126), b = E4M3((amax / 6) / t)    x / (b * t)
// max is the largest value of the elements: 6, 448, 57344, 7, 127. Elements round to nearest even and saturate; where a
// scale is zero they are zero. Infinities saturate. NaN: elements that have one keep it to themselves; blocks of others
// (4 bits, integers) become NaN through their scale, elements zero. Reading gives element * s, or element * (b * t).
#pragma once

#include "precision/scheme.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace servecast::precision {

// Elements are row-major, little-endian, packed without gaps between rows. 4-bit elements: element 2i in the low half
// of byte i, element 2i + 1 in its high half; the last half may be unused and is zero. Int4 is two's complement.
// Scales are row-major over blocks, each in its own bytes, little-endian; not in the interleaved order that tensor
// cores load them in.
struct Quantised {
  Scheme scheme;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> elements;
  std::vector<std::uint8_t> scales;
  float tensor_scale = 1;  // two-level only

  std::int64_t block_columns() const;  // blocks beside each other
  std::int64_t block_rows() const;     // blocks below each other
};

// Requires: values.size() == rows * columns, both > 0.
Quantised quantise(const Scheme& scheme, std::span<const float> values, std::int64_t rows, std::int64_t columns);
std::vector<float> dequantise(const Quantised& q);

// Codes to bytes and back in the order above. Requires: 4, 8 or 16 bits; count codes in bytes.
std::vector<std::uint8_t> pack(std::span<const std::uint16_t> codes, int bits);
std::vector<std::uint16_t> unpack(std::span<const std::uint8_t> bytes, int bits, std::int64_t count);

// Largest value of the elements of a scaled scheme.
float largest(Element element);

}  // namespace servecast::precision
