#include "core/log_sketch.hpp"

#include "core/error.hpp"

#include <cmath>

namespace servecast::core {

void LogSketch::merge(const LogSketch& other) {
  for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double LogSketch::mean() const { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }

double LogSketch::middle_of(std::size_t bucket) {
  if (bucket < 256) return static_cast<double>(bucket);
  const int shift = static_cast<int>(bucket / 128) - 1;
  const double low = std::ldexp(static_cast<double>(128 + bucket % 128), shift);
  return low + std::ldexp(0.5, shift);
}

double LogSketch::quantile(double q) const {
  SERVECAST_ENSURE(q >= 0 && q <= 1, "quantile {} is outside [0, 1]", q);
  if (count_ == 0) return 0.0;
  SERVECAST_ENSURE(min_ >= 0, "a sketch of durations holds the negative value {}", min_);
  const double position = static_cast<double>(count_ - 1) * q;
  const auto rank = std::min(static_cast<std::uint64_t>(position), count_ - 1);
  const double fraction = position - static_cast<double>(rank);

  const auto clamped = [this](std::size_t bucket) {
    return std::clamp(middle_of(bucket), static_cast<double>(min_), static_cast<double>(max_));
  };
  std::uint64_t below = 0;  // weight in the buckets before this one
  std::size_t bucket = 0;
  while (below + counts_[bucket] <= rank) below += counts_[bucket++];
  const double value = clamped(bucket);
  if (fraction <= 0 || rank + 1 < below + counts_[bucket] || rank + 1 >= count_) return value;
  std::size_t next = bucket + 1;
  while (counts_[next] == 0) ++next;
  return value + fraction * (clamped(next) - value);
}

}  // namespace servecast::core
