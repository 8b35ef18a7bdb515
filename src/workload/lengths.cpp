#include "workload/lengths.hpp"

#include "core/error.hpp"
#include "core/random.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace servecast::workload {

namespace {

constexpr double z99 = 2.3263478740408408;  // standard normal quantile at 0.99

// Quantiles between knots are interpolated linearly except in the outer cells, where they are computed: the relative
// error is below 1e-4 x sigma (derived from the curvature of the normal quantile at cell 32 of 2048; tested).
constexpr std::size_t cells = 2048;
constexpr std::size_t exact_cells = 32;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Cumulative probability at `tokens`, linear between points; all of the first point's mass lies on it.
double cdf_at(const std::vector<CdfPoint>& points, double tokens) {
  if (tokens < points.front().tokens) return 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (tokens >= points[i].tokens) continue;
    const double part = (tokens - points[i - 1].tokens) / (points[i].tokens - points[i - 1].tokens);
    return points[i - 1].fraction + part * (points[i].fraction - points[i - 1].fraction);
  }
  return 1;
}

double quantile_of(const std::vector<CdfPoint>& points, double u) {
  const auto next = std::lower_bound(points.begin(), points.end(), u,
                                     [](const CdfPoint& point, double fraction) { return point.fraction < fraction; });
  if (next == points.begin()) return points.front().tokens;
  const CdfPoint& before = *(next - 1);
  const double part = (u - before.fraction) / (next->fraction - before.fraction);
  return before.tokens + part * (next->tokens - before.tokens);
}

}  // namespace

std::optional<double> lognormal_sigma(double mean, double p99) {
  // mean = exp(mu + s^2 / 2), p99 = exp(mu + z s): s^2 / 2 - z s + ln(p99 / mean) = 0.
  const double log_ratio = std::log(p99 / mean);
  const double root = z99 * z99 - 2 * log_ratio;
  if (!(log_ratio >= 0) || !(root >= 0)) return std::nullopt;
  return z99 - std::sqrt(root);
}

std::string lognormal_refusal(double mean, double p99) {
  // Floored, so that the upper end is itself possible.
  const double most = std::floor(mean * std::exp(z99 * z99 / 2) * 100) / 100;
  return fmt::format(
      "p99 {:.10g} does not go with mean {:.10g}: a lognormal law of that mean has its p99 between {:.10g} and "
      "{:.10g}; "
      "change one of them, give sigma, or take another distribution",
      p99, mean, mean, most);
}

Lognormal lognormal(const LengthConfig& c) {
  Lognormal law;
  law.sigma = c.sigma ? *c.sigma : lognormal_sigma(*c.mean, *c.p99).value_or(0);
  law.mu = std::log(*c.mean) - law.sigma * law.sigma / 2;
  if (law.sigma > 0) {
    // Lengths are rounded, so the bounds reach half a token further.
    if (c.min && *c.min > 1) law.low = normal_cdf((std::log(*c.min - 0.5) - law.mu) / law.sigma);
    if (c.max) law.high = normal_cdf((std::log(*c.max + 0.5) - law.mu) / law.sigma);
  }
  return law;
}

double cdf_low(const LengthConfig& c) {
  if (!c.min || *c.min <= c.points.front().tokens) return 0;
  return cdf_at(c.points, *c.min - 0.5);
}

double cdf_high(const LengthConfig& c) { return c.max ? cdf_at(c.points, *c.max + 0.5) : 1; }

WeightedChoice::WeightedChoice(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  SERVECAST_ENSURE(sum > 0, "{} weights sum to {}", weights.size(), sum);
  double running = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    running += weights[i];
    cumulative_.push_back(running / sum);
    if (weights[i] > 0) last = i;
  }
  // Rounding must not leave u without a home, nor give it to a weight of 0.
  for (std::size_t i = last; i < cumulative_.size(); ++i) cumulative_[i] = 2;
  const std::size_t guides = weights.size();
  scale_ = static_cast<double>(guides);
  std::size_t i = 0;
  for (std::size_t g = 0; g < guides; ++g) {
    while (cumulative_[i] <= static_cast<double>(g) / scale_) ++i;
    guide_.push_back(static_cast<std::uint32_t>(i));
  }
}

std::vector<double> WeightedChoice::zipf(std::int64_t n, double exponent) {
  std::vector<double> weights;
  for (std::int64_t k = 1; k <= n; ++k) weights.push_back(std::pow(static_cast<double>(k), -exponent));
  return weights;
}

Lengths::Lengths(const LengthConfig& c) : law_(c.distribution) {
  if (c.min) min_ = *c.min;
  if (c.max) max_ = *c.max;
  switch (law_) {
    case Distribution::Fixed: min_ = max_ = *c.value; break;
    case Distribution::Uniform: break;
    case Distribution::Lognormal:
      lognormal_ = lognormal(c);
      low_ = lognormal_.low;
      high_ = lognormal_.high;
      tabulate();
      break;
    case Distribution::Empirical: {
      points_ = c.points;
      if (!points_.empty()) {
        low_ = cdf_low(c);
        high_ = cdf_high(c);
        break;
      }
      std::vector<double> weights;
      for (std::size_t i = 0; i < c.values.size(); ++i) {
        if (c.values[i] < min_ || c.values[i] > max_) continue;
        values_.push_back(c.values[i]);
        weights.push_back(c.weights.empty() ? 1.0 : c.weights[i]);
      }
      choice_.emplace_back(weights);
    }
  }
}

double Lengths::exact_lognormal(double u) const {
  // At the ends of the unit interval only knots ask; the outer cells never interpolate towards them.
  const double p = std::clamp(low_ + u * (high_ - low_), 1e-300, 1 - 0x1p-53);
  return std::exp(lognormal_.mu + lognormal_.sigma * core::normal_quantile(p));
}

void Lengths::tabulate() {
  for (std::size_t i = 0; i <= cells; ++i) table_.push_back(exact_lognormal(static_cast<double>(i) / cells));
}

std::int32_t Lengths::at(double u) const {
  switch (law_) {
    case Distribution::Fixed: return min_;
    case Distribution::Uniform: {
      const double width = static_cast<double>(max_) - min_ + 1;
      return static_cast<std::int32_t>(std::min<std::int64_t>(min_ + static_cast<std::int64_t>(u * width), max_));
    }
    case Distribution::Lognormal: {
      const double position = u * cells;
      const auto cell = static_cast<std::size_t>(position);
      double length = 0;
      if (cell >= exact_cells && cell < cells - exact_cells) {
        length = table_[cell] + (position - static_cast<double>(cell)) * (table_[cell + 1] - table_[cell]);
      } else {
        length = exact_lognormal(u);
      }
      return static_cast<std::int32_t>(std::clamp(length + 0.5, static_cast<double>(min_), static_cast<double>(max_)));
    }
    case Distribution::Empirical: break;
  }
  if (points_.empty()) return values_[choice_.front().at(u)];
  const double length = quantile_of(points_, low_ + u * (high_ - low_)) + 0.5;
  return static_cast<std::int32_t>(std::clamp(length, static_cast<double>(min_), static_cast<double>(max_)));
}

double Lengths::mean() const {
  constexpr int steps = 100000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += at((i + 0.5) / steps);
  return sum / steps;
}

}  // namespace servecast::workload
