// How far a simulated mean or quantile can be trusted: where the warm-up ends (MSER-5), confidence intervals of a mean
// from one long run (batch means) and of a quantile (order statistics). Observations are in order of time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace servecast::core {

struct Truncation {
  std::size_t drop = 0;    // leading items to leave out
  bool conclusive = true;  // false: the minimum lies at half of the run, which is then too short to tell
};

// White, "An effective truncation heuristic for bias reduction in simulation output", 1997: the d that minimises
// sum over i > d of (y_i - mean_d)^2 / (n - d)^2 with d <= n/2; the smallest such d.
Truncation mser(std::span<const double> batch_means);
// The same over means of 5 observations; drop counts observations. Fewer than 10 observations are inconclusive.
Truncation mser5(std::span<const double> observations);

struct MeanInterval {
  double mean = 0;
  double half_width = 0;        // at 95 %
  double lag1_correlation = 0;  // between batch means; above 0.2 the batches are too short and the width too small
  std::size_t batches = 0;
};

// Splits into equal batches and leaves out the remainder at the front. None with fewer than 2 observations a batch.
// Requires: batches >= 2; 20 to 30 is the usual choice.
std::optional<MeanInterval> batch_means_interval(std::span<const double> observations, std::size_t batches = 25);

struct QuantileInterval {
  double low = 0;
  double high = 0;
};

// 95 % interval from the ranks n q +- 1.96 sqrt(n q (1 - q)), for independent observations. None when those ranks
// do not exist. Reorders values. Requires: 0 < q < 1.
std::optional<QuantileInterval> quantile_interval(std::span<double> values, double q);

// Two-sided 95 % point of Student's t. Requires: degrees >= 1.
double student_t95(std::size_t degrees);

}  // namespace servecast::core
