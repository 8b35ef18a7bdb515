// A mergeable histogram of non-negative integers (picoseconds) with 128 buckets to the octave: quantiles of any number
// of weighted values in fixed memory (57 KiB). Invariants: values below 256 are kept exactly; a quantile is within
// 1/256 of the exact one (linear interpolation between neighbours); count, mean, min and max are exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace servecast::core {

class LogSketch {
 public:
  static constexpr double relative_error = 1.0 / 256.0;

  // Requires: value >= 0 (checked when quantiles are read: one negative value poisons min()).
  void add(std::int64_t value, std::uint64_t weight = 1) {
    counts_[bucket_of(value)] += weight;
    count_ += weight;
    sum_ += static_cast<Wide>(static_cast<std::uint64_t>(value)) * weight;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  void merge(const LogSketch& other);

  std::uint64_t count() const { return count_; }  // sum of weights
  double mean() const;                            // 0 when empty, like every figure here
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  std::int64_t max() const { return count_ == 0 ? 0 : max_; }
  // Requires: 0 <= q <= 1.
  double quantile(double q) const;

 private:
  __extension__ using Wide = unsigned __int128;

  static constexpr std::size_t buckets = 56 * 128 + 128;  // bit widths up to 63

  // A value of bit width w > 8 drops its lowest w - 8 bits: 128 buckets for each octave, in one row after 0..255.
  static std::size_t bucket_of(std::int64_t value) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> 1);
    const int shift = 56 - std::countl_zero(bits | 0xffu);
    return static_cast<std::size_t>(shift) * 128 + (bits >> shift);
  }
  static double middle_of(std::size_t bucket);

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(buckets);
  std::uint64_t count_ = 0;
  Wide sum_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = 0;
};

}  // namespace servecast::core
