#include "core/output_analysis.hpp"

#include "core/error.hpp"
#include "core/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace servecast::core {

namespace {

constexpr double z95 = 1.959963984540054;  // normal quantile at 0.975

std::vector<double> means_of(std::span<const double> values, std::size_t size) {
  std::vector<double> means(values.size() / size);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const std::span<const double> batch = values.subspan(i * size, size);
    means[i] = std::accumulate(batch.begin(), batch.end(), 0.0) / static_cast<double>(size);
  }
  return means;
}

double lag1_correlation(std::span<const double> values, double mean) {
  double square = 0;
  double product = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    square += (values[i] - mean) * (values[i] - mean);
    if (i > 0) product += (values[i] - mean) * (values[i - 1] - mean);
  }
  return square > 0 ? product / square : 0.0;
}

}  // namespace

Truncation mser(std::span<const double> batch_means) {
  const std::size_t n = batch_means.size();
  if (n < 2) return {0, false};
  Running kept;  // from the back: item i joins when d falls to i
  double best = std::numeric_limits<double>::infinity();
  std::size_t drop = 0;
  for (std::size_t d = n; d-- > 0;) {
    kept.add(batch_means[d]);
    if (d > n / 2) continue;
    const double score = kept.variance() / static_cast<double>(kept.count());
    if (score <= best) {
      best = score;
      drop = d;
    }
  }
  return {drop, drop < n / 2};
}

Truncation mser5(std::span<const double> observations) {
  constexpr std::size_t size = 5;
  Truncation result = mser(means_of(observations, size));
  result.drop *= size;
  return result;
}

std::optional<MeanInterval> batch_means_interval(std::span<const double> observations, std::size_t batches) {
  SERVECAST_ENSURE(batches >= 2, "{} batches give no variance", batches);
  const std::size_t size = observations.size() / batches;
  if (size < 2) return std::nullopt;
  const std::vector<double> means = means_of(observations.last(size * batches), size);
  Running spread;
  for (const double mean : means) spread.add(mean);
  const double error = std::sqrt(spread.sample_variance() / static_cast<double>(batches));
  return MeanInterval{spread.mean(), student_t95(batches - 1) * error, lag1_correlation(means, spread.mean()), batches};
}

std::optional<QuantileInterval> quantile_interval(std::span<double> values, double q) {
  SERVECAST_ENSURE(q > 0 && q < 1, "quantile {} is outside (0, 1)", q);
  const double n = static_cast<double>(values.size());
  const double reach = z95 * std::sqrt(n * q * (1 - q));
  const double low = std::floor(n * q - reach);
  const double high = std::ceil(n * q + reach) + 1;  // ranks from 1
  if (low < 1 || high > n) return std::nullopt;
  const auto at = [&](double rank) { return values.begin() + static_cast<std::ptrdiff_t>(rank) - 1; };
  std::nth_element(values.begin(), at(low), values.end());
  if (high > low) std::nth_element(at(low) + 1, at(high), values.end());
  return QuantileInterval{*at(low), *at(high)};
}

double student_t95(std::size_t degrees) {
  SERVECAST_ENSURE(degrees >= 1, "no degrees of freedom");
  // Standard table of the 0.975 point, 1 to 30 degrees.
  constexpr std::array<double, 30> table = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                            2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                            2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= table.size()) return table[degrees - 1];
  // Cornish-Fisher expansion about the normal law (Abramowitz, Stegun 26.7.5), within 1e-4 from 30 degrees on.
  const double v = static_cast<double>(degrees);
  const double z3 = z95 * z95 * z95;
  return z95 + (z3 + z95) / (4 * v) + (5 * z3 * z95 * z95 + 16 * z3 + 3 * z95) / (96 * v * v);
}

}  // namespace servecast::core
