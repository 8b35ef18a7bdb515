#include "core/statistics.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace servecast::core {

namespace {

// Selection in rising rank order: each nth_element works only on what lies above the previous one.
template <typename T>
std::vector<double> selected(std::span<T> values, std::span<const double> ps) {
  std::vector<double> result(ps.size(), 0.0);
  if (values.empty()) return result;
  std::vector<std::size_t> order(ps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ps[a] < ps[b]; });

  const auto at = [&](std::size_t rank) { return values.begin() + static_cast<std::ptrdiff_t>(rank); };
  std::size_t settled = 0;  // ranks below are in their place
  for (const std::size_t i : order) {
    const double p = ps[i];
    SERVECAST_ENSURE(p >= 0 && p <= 100, "percentile {} is outside [0, 100]", p);
    const double position = static_cast<double>(values.size() - 1) * p / 100.0;
    const auto low = std::min(static_cast<std::size_t>(position), values.size() - 1);
    const double fraction = position - static_cast<double>(low);
    if (low >= settled) std::nth_element(at(settled), at(low), values.end());
    settled = std::max(settled, low + 1);
    const double below = static_cast<double>(values[low]);
    result[i] = below;
    if (fraction > 0 && low + 1 < values.size()) {
      std::iter_swap(at(low + 1), std::min_element(at(low + 1), values.end()));
      result[i] = below + fraction * (static_cast<double>(values[low + 1]) - below);
    }
  }
  return result;
}

}  // namespace

void Running::add(double x) {
  min_ = count_ == 0 ? x : std::min(min_, x);
  max_ = count_ == 0 ? x : std::max(max_, x);
  ++count_;
  const double distance = x - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (x - mean_);
}

// Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
void Running::merge(const Running& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const double mine = static_cast<double>(count_);
  const double theirs = static_cast<double>(other.count_);
  const double distance = other.mean_ - mean_;
  mean_ += distance * theirs / (mine + theirs);
  squares_ += other.squares_ + distance * distance * mine * theirs / (mine + theirs);
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Running::variance() const { return count_ == 0 ? 0.0 : squares_ / static_cast<double>(count_); }

double Running::sample_variance() const { return count_ < 2 ? 0.0 : squares_ / static_cast<double>(count_ - 1); }

double Running::deviation() const { return std::sqrt(variance()); }

std::vector<double> percentiles(std::span<double> values, std::span<const double> ps) { return selected(values, ps); }
std::vector<double> percentiles(std::span<float> values, std::span<const double> ps) { return selected(values, ps); }
std::vector<double> percentiles(std::span<std::int64_t> values, std::span<const double> ps) {
  return selected(values, ps);
}

double percentile(std::span<double> values, double p) { return selected(values, std::span(&p, 1)).front(); }

}  // namespace servecast::core
