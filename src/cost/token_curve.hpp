// A non-decreasing function of a number of tokens in integer picoseconds: knots that split every octave into 64 (all
// integers below 128), linear in between, in integers. So that differences of one curve are the same everywhere.
#pragma once

#include "core/error.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace servecast::cost {

class TokenCurve {
 public:
  TokenCurve() = default;
  // f(tokens) in picoseconds, asked at ascending knots that cover 0..most. Where f falls, the last value holds.
  template <typename Function>
  TokenCurve(std::int32_t most, const Function& f) {
    for (std::size_t k = 0; knots_.empty() || knot(k - 1) < most; ++k)
      knots_.push_back(std::max(knots_.empty() ? std::int64_t{0} : knots_.back(), std::int64_t{f(knot(k))}));
    knots_.push_back(knots_.back());
    most_ = static_cast<std::uint32_t>(knot(knots_.size() - 2));
  }

  bool empty() const { return knots_.empty(); }
  std::size_t bytes() const { return knots_.size() * sizeof(std::int64_t); }

  // Requires: 0 <= tokens <= most.
  std::int64_t at(std::int32_t tokens) const {
    const auto n = static_cast<std::uint32_t>(tokens);
    const int shift = shift_of(n);
    const std::size_t k = index(n);
    SERVECAST_ENSURE(n <= most_, "{} tokens, beyond the curve", tokens);
    const auto rest = static_cast<std::int64_t>(n & ((std::uint32_t{1} << shift) - 1));
    return knots_[k] + ((knots_[k + 1] - knots_[k]) * rest >> shift);
  }

  // The last knot at or below n, and the tokens of a knot.
  static std::size_t index(std::uint32_t n) {
    const int shift = shift_of(n);
    return (static_cast<std::size_t>(shift) << part_bits) + (n >> shift);
  }
  static std::int64_t knot(std::size_t k) {
    const std::size_t parts = std::size_t{1} << part_bits;
    if (k < 2 * parts) return static_cast<std::int64_t>(k);
    const std::size_t shift = k / parts - 1;
    return static_cast<std::int64_t>((k - shift * parts) << shift);
  }

 private:
  static constexpr int part_bits = 6;
  static int shift_of(std::uint32_t n) {
    return static_cast<int>(std::bit_width(n | ((1u << (part_bits + 1)) - 1))) - 1 - part_bits;
  }

  std::vector<std::int64_t> knots_;
  std::uint32_t most_ = 0;  // of the last knot
};

}  // namespace servecast::cost
