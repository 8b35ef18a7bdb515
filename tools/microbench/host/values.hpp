// Contents of inputs: a pure function of (stream, index), the same in kernels that fill buffers and in host references,
// so that nothing large is ever copied back. Values use the full mantissa of their format: power and clocks depend on
// how many bits toggle.
#pragma once

#include "microbench/host/codecs.hpp"

#include <cstdint>

namespace servecast::microbench::values {

// Mixes 64 bits (splitmix64's finaliser, Steele et al. 2014).
constexpr std::uint64_t mixed(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t z = index * 0x9e3779b97f4a7c15ULL + (stream + 1) * 0xd1342543de82ef95ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Odd multiples of 1/256 in (-1, 1): eight bits of mantissa, exact in BF16.
constexpr std::uint16_t bf16_code(std::uint64_t stream, std::uint64_t index) {
  const auto byte = static_cast<std::int32_t>(mixed(stream, index) & 255U);
  return codec::float_to_bf16(static_cast<float>(2 * byte - 255) * (1.0F / 256.0F));
}
// Magnitudes 1/4 to 15/8 of either sign: exponent field 5..7.
constexpr std::uint8_t e4m3_code(std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t z = mixed(stream, index);
  return static_cast<std::uint8_t>((z & 0x87U) | (5U + (z >> 8) % 3U) << 3);
}
// Any two codes in one byte: the even element in the low half.
constexpr std::uint8_t e2m1_pair(std::uint64_t stream, std::uint64_t pair) {
  return static_cast<std::uint8_t>(mixed(stream, pair) & 255U);
}
// Block scales 1/2 to 15/8, positive: exponent field 6..7.
constexpr std::uint8_t scale_code(std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t z = mixed(stream, index);
  return static_cast<std::uint8_t>((z & 7U) | (6U + ((z >> 8) & 1U)) << 3);
}

}  // namespace servecast::microbench::values
