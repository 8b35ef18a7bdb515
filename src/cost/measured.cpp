#include "cost/measured.hpp"

#include "core/time.hpp"
#include "cost/kernels/monotone.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost {
namespace {

constexpr int fine = 16;   // knots per octave of rows
constexpr int coarse = 8;  // of decoders and of context

std::vector<double> row_knots(std::int32_t most) {
  std::vector<double> out = {1, 2};
  for (std::int64_t n = 4; out.back() < most;) {
    out.push_back(static_cast<double>(n));
    n += std::max<std::int64_t>(4, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))) / fine);
  }
  return out;
}

// A mixture of two answers: uncertain where either is.
KernelTime between(const KernelTime& a, const KernelTime& b, double part) {
  KernelTime t = part < 0.5 ? a : b;
  t.seconds = a.seconds + (b.seconds - a.seconds) * part;
  t.extrapolated = (part < 1 && a.extrapolated) || (part > 0 && b.extrapolated);
  if (a.origin == Evidence::Derived || b.origin == Evidence::Derived) t.origin = Evidence::Derived;
  t.error = std::max(a.error, b.error);
  return t;
}

struct Place {
  std::size_t knot = 0;
  double part = 0;
};

Place place(double x) {
  const int octave = std::ilogb(std::max(1.0, x));
  const double inside = (std::ldexp(std::max(1.0, x), -octave) - 1.0) * coarse;
  const auto whole = static_cast<std::size_t>(inside);
  return {static_cast<std::size_t>(octave) * coarse + whole, inside - static_cast<double>(whole)};
}

double coarse_knot(std::size_t k) {
  return std::ldexp(1.0 + static_cast<double>(k % coarse) / coarse, static_cast<int>(k / coarse));
}

}  // namespace

MeasuredCurve::MeasuredCurve(std::int32_t most, const Function& f) : units_(row_knots(most)) {
  std::vector<double> seconds;
  for (const double n : units_) {
    const auto t = f(n);
    if (!t) {
      units_.clear();
      times_.clear();
      return;
    }
    times_.push_back(*t);
    seconds.push_back(t->seconds);
  }
  kernels::isotonic(seconds);
  for (std::size_t i = 0; i < seconds.size(); ++i) times_[i].seconds = seconds[i];
}

KernelTime MeasuredCurve::at(double units) const {
  const auto above = std::lower_bound(units_.begin(), units_.end(), units);
  if (above == units_.begin()) return times_.front();
  if (above == units_.end()) return times_.back();
  const auto i = static_cast<std::size_t>(above - units_.begin());
  return between(times_[i - 1], times_[i], (units - units_[i - 1]) / (units_[i] - units_[i - 1]));
}

MeasuredDecode::MeasuredDecode(std::int32_t most_decoders, std::int32_t most_context, const Function& f)
    : columns_(place(most_context).knot + 2) {
  const std::size_t rows = place(most_decoders).knot + 2;
  times_.reserve(rows * columns_);
  for (std::size_t d = 0; d < rows; ++d) {
    for (std::size_t c = 0; c < columns_; ++c) {
      const auto t = f(coarse_knot(d), coarse_knot(c));
      if (!t) {
        times_.clear();
        return;
      }
      times_.push_back(*t);
      double& s = times_.back().seconds;
      if (c > 0) s = std::max(s, times_[d * columns_ + c - 1].seconds);
      if (d > 0) s = std::max(s, times_[(d - 1) * columns_ + c].seconds);
    }
  }
}

KernelTime MeasuredDecode::at(double decoders, double context_sum) const {
  const Place d = place(decoders);
  const Place c = place(context_sum / std::max(1.0, decoders));
  const std::size_t column = std::min(c.knot, columns_ - 2);
  const KernelTime* low = &times_[d.knot * columns_ + column];
  const KernelTime* high = low + columns_;
  const double part = c.knot == column ? c.part : 1.0;
  return between(between(low[0], low[1], part), between(high[0], high[1], part), d.part);
}

MeasuredPrefill::MeasuredPrefill(std::int32_t most, double layers, const Function& f) {
  if (!f(1)) return;
  first_inside_ = most;
  curve_ = TokenCurve(most, [&](std::int64_t tokens) {
    if (tokens == 0) return std::int64_t{0};
    const KernelTime t = f(static_cast<double>(tokens)).value();
    origin_ = t.origin;
    if (!t.extrapolated) {
      first_inside_ = std::min(first_inside_, tokens);
      last_inside_ = tokens;
    }
    return core::seconds(t.seconds * layers).ps;
  });
}

double MeasuredPrefill::chunk_s(std::int32_t from, std::int32_t to) const {
  return core::to_seconds(core::Duration{chunk_ps(curve_, from, to)});
}

void MeasuredPrefill::change(std::int32_t most, const std::function<double(double, double)>& f) {
  if (empty()) return;
  const TokenCurve old = curve_;
  curve_ = TokenCurve(most, [&](std::int64_t tokens) {
    const auto n = static_cast<std::int32_t>(std::min<std::int64_t>(tokens, most));
    if (n == 0) return std::int64_t{0};
    return core::seconds(f(n, core::to_seconds(core::Duration{old.at(n)}))).ps;
  });
}

bool MeasuredPrefill::extrapolated(std::int32_t to) const { return to < first_inside_ || to > last_inside_; }

}  // namespace servecast::cost
