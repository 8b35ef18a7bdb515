// Decode attention compiled: per number of decoders, two rooflines (arithmetic, memory) tabulated over the sum of
// contexts at knots that split every octave evenly, interpolated linearly in integer picoseconds; the slower one
// counts. Interpolation keeps the order of the knots, so a table of a monotone function is monotone. Affine rooflines
// are reproduced to a few millionths; for others the octaves are split until the error falls below a bound.
#pragma once

#include "core/error.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace servecast::cost {

struct Lines {
  std::int64_t compute_ps = 0;
  std::int64_t memory_ps = 0;
};

class DecodeTable {
 public:
  // Seconds of both rooflines at (decoders, context); non-decreasing in both.
  struct Seconds {
    double compute_s = 0;
    double memory_s = 0;
  };
  using Function = std::function<Seconds(double decoders, double context)>;

  DecodeTable() = default;
  // Covers 1..max_decoders with up to max_context tokens each.
  DecodeTable(std::int32_t max_decoders, std::int32_t max_context, const Function& f);

  bool empty() const { return knots_.empty(); }
  std::size_t bytes() const { return knots_.size() * sizeof(Lines); }
  int splits() const { return splits_; }

  // Requires: decoders <= max_decoders, context <= decoders * max_context. A context below one token per decoder counts
  // as one; no decoders take no time.
  Lines at(std::int32_t decoders, std::int64_t context) const {
    const auto d = static_cast<std::uint32_t>(decoders);
    const auto s = static_cast<std::uint64_t>(context > decoders ? context : decoders) | (d == 0 ? 1u : 0u);
    const int octave = 63 - std::countl_zero(s);
    const int row = octave - (31 - std::countl_zero(d | 1u));
    SERVECAST_ENSURE(row < octaves_, "{} decoders read {} tokens, beyond max_model_len each", decoders, context);
    const std::uint64_t scaled = (s - (std::uint64_t{1} << octave)) << splits_;
    const std::uint64_t part = scaled >> octave;
    const std::uint64_t rest = ((scaled - (part << octave)) << fraction_bits_) >> octave;
    const Lines* k = &knots_[d * stride_ + (static_cast<std::size_t>(row) << splits_) + part];
    return {between(k[0].compute_ps, k[1].compute_ps, rest), between(k[0].memory_ps, k[1].memory_ps, rest)};
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high, std::uint64_t rest) const {
    return low + ((high - low) * static_cast<std::int64_t>(rest) >> fraction_bits_);
  }
  void fill_row(std::int32_t decoders, const Function& f);
  double worst_error(std::int32_t max_decoders, const Function& f) const;

  std::vector<Lines> knots_;
  std::size_t stride_ = 0;  // knots per number of decoders
  int octaves_ = 0;
  int splits_ = 0;         // log2 of the knots per octave
  int fraction_bits_ = 0;  // of the position between two knots: as many as 64-bit products allow, at most 20
};

}  // namespace servecast::cost
