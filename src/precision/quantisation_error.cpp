#include "precision/quantisation_error.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace servecast::precision {
namespace {

struct Power {
  double signal = 0;
  double noise = 0;
  bool exact() const { return !(noise > 0); }
  double db() const { return 10.0 * std::log10(signal / noise); }
};

std::optional<double> column_db(const std::vector<Power>& columns) {
  double ratios = 0;
  double count = 0;
  for (const Power& p : columns) {
    if (!(p.signal > 0)) continue;
    ratios += p.noise / p.signal;
    count += 1;
  }
  if (!(ratios > 0)) return std::nullopt;
  return -10.0 * std::log10(ratios / count);
}

std::vector<double> product(const Matrix& m, std::span<const float> x) {
  std::vector<double> out(static_cast<std::size_t>(m.rows));
  for (std::size_t r = 0; r < out.size(); ++r)
    for (std::size_t c = 0; c < x.size(); ++c)
      out[r] += static_cast<double>(m.values[r * x.size() + c]) * static_cast<double>(x[c]);
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

RangeStatistics range_statistics(std::span<const float> values) {
  RangeStatistics s;
  for (const float x : values) {
    if (!std::isfinite(x)) ++s.infinite;
    if (std::isfinite(x)) s.amax = std::max(s.amax, std::abs(static_cast<double>(x)));
  }
  if (!(s.amax > 0)) return s;
  double second = 0;  // moments of x / amax, so that none overflows
  double fourth = 0;
  for (const float x : values) {
    if (!std::isfinite(x)) continue;
    const double part = static_cast<double>(x) / s.amax;
    second += part * part;
    fourth += part * part * part * part;
  }
  const auto n = static_cast<double>(values.size()) - static_cast<double>(s.infinite);
  s.rms = s.amax * std::sqrt(second / n);
  s.kurtosis = fourth * n / (second * second);
  return s;
}

QuantisationError quantisation_error(const Matrix& exact, std::span<const float> quantised) {
  SERVECAST_ENSURE(exact.values.size() == quantised.size(), "{} values against {}", exact.values.size(),
                   quantised.size());
  QuantisationError e;
  Power all;
  std::vector<Power> columns(static_cast<std::size_t>(exact.columns));
  double largest = 0;
  std::int64_t flushed = 0;
  std::int64_t lost = 0;
  for (std::size_t i = 0; i < quantised.size(); ++i) {
    const auto x = static_cast<double>(exact.values[i]);
    const auto y = static_cast<double>(quantised[i]);
    if (!std::isfinite(x)) continue;
    if (!std::isfinite(y)) {
      ++lost;
      continue;
    }
    ++e.compared;
    Power& column = columns[i % columns.size()];
    for (Power* p : {&all, &column}) {
      p->signal += x * x;
      p->noise += (x - y) * (x - y);
    }
    largest = std::max(largest, std::abs(x - y));
    if (x != 0 && y == 0) ++flushed;
  }
  const auto n = static_cast<double>(quantised.size());
  if (!all.exact()) e.sqnr_db = all.db();
  e.column_sqnr_db = column_db(columns);
  e.max_error = all.signal > 0 ? largest / std::sqrt(all.signal / n) : 0;
  e.flushed = static_cast<double>(flushed) / n;
  e.lost = static_cast<double>(lost) / n;
  return e;
}

std::optional<double> product_cosine(const Matrix& a, std::span<const float> x, const Matrix& b,
                                     std::span<const float> y) {
  SERVECAST_ENSURE(a.rows == b.rows && static_cast<std::int64_t>(x.size()) == a.columns && x.size() == y.size(),
                   "{} x {} by {} against {} x {} by {}", a.rows, a.columns, x.size(), b.rows, b.columns, y.size());
  if (a.rows < 2) return std::nullopt;
  const std::vector<double> p = product(a, x);
  const std::vector<double> q = product(b, y);
  const double cosine = dot(p, q) / std::sqrt(dot(p, p) * dot(q, q));
  if (!std::isfinite(cosine)) return std::nullopt;
  return std::min(1.0, cosine);
}

}  // namespace servecast::precision
