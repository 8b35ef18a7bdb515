// Moments and exact percentiles of samples held in memory. Percentiles are those of the benchmark clients: linear
// interpolation at position (n - 1) p / 100; an empty sample gives 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace servecast::core {

// Count, mean, variance and extremes in one pass (Welford), mergeable.
class Running {
 public:
  void add(double x);
  void merge(const Running& other);
  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }  // 0 when empty, like every figure here
  double variance() const;               // of the population: divided by n
  double sample_variance() const;        // divided by n - 1
  double deviation() const;              // square root of variance()
  double min() const { return min_; }
  double max() const { return max_; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean
  double min_ = 0;
  double max_ = 0;
};

// One value for each of ps (0 to 100, any order). Reorders values. Requires: no value is NaN.
std::vector<double> percentiles(std::span<double> values, std::span<const double> ps);
std::vector<double> percentiles(std::span<float> values, std::span<const double> ps);
std::vector<double> percentiles(std::span<std::int64_t> values, std::span<const double> ps);

// The same for one p. Reorders values.
double percentile(std::span<double> values, double p);

}  // namespace servecast::core
