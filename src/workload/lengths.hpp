// Token lengths by inversion: one uniform number gives one length, monotonically, so that length i depends on draw i
// alone and variants of a distribution stay synchronised. Bounds restrict the uniform number to the part of the law
// inside them, which is the law of drawing again until inside.
#pragma once

#include "workload/config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::workload {

// The smaller sigma of a lognormal law with this mean and 99th percentile; none where p99 / mean is outside
// [1, exp(z^2 / 2)], z = 2.326: below, the percentile would lie under the mean; above, no sigma reaches it.
std::optional<double> lognormal_sigma(double mean, double p99);
// The sentence that says why there is none.
std::string lognormal_refusal(double mean, double p99);

struct Lognormal {
  double mu = 0;
  double sigma = 0;
  double low = 0;  // cumulative probability at the bounds
  double high = 1;
};
// Requires: a lognormal config that passed check() up to its bounds.
Lognormal lognormal(const LengthConfig& c);

// Cumulative probability below min and up to max of an empirical law given by points.
double cdf_low(const LengthConfig& c);
double cdf_high(const LengthConfig& c);

// Index i with probability weight[i] / sum, by inversion in constant expected time.
class WeightedChoice {
 public:
  explicit WeightedChoice(const std::vector<double>& weights);  // Requires: some weight > 0, none negative
  std::size_t at(double u) const {                              // Requires: 0 <= u < 1
    std::size_t i = guide_[static_cast<std::size_t>(u * scale_)];
    while (cumulative_[i] <= u) ++i;
    return i;
  }
  static std::vector<double> zipf(std::int64_t n, double exponent);

 private:
  std::vector<double> cumulative_;
  std::vector<std::uint32_t> guide_;
  double scale_ = 1;
};

class Lengths {
 public:
  explicit Lengths(const LengthConfig& c);  // Requires: check() found nothing
  std::int32_t at(double u) const;          // length at 0 <= u < 1, >= 1
  std::int32_t shortest() const { return at(0); }
  double mean() const;  // of the law as drawn: bounds and rounding included, within 0.1 %

 private:
  double exact_lognormal(double u) const;
  void tabulate();

  Distribution law_;
  std::int32_t min_ = 1;
  std::int32_t max_ = 2147483647;
  Lognormal lognormal_;
  std::vector<double> table_;  // lognormal quantiles at equal steps of u
  std::vector<std::int32_t> values_;
  std::vector<WeightedChoice> choice_;  // one or none
  std::vector<CdfPoint> points_;
  double low_ = 0;
  double high_ = 1;
};

}  // namespace servecast::workload
