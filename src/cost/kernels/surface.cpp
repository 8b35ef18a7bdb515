#include "cost/kernels/surface.hpp"

#include "config/fields.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::cost::kernels {

namespace {

bool ascending(const std::vector<double>& knots) {
  if (knots.empty() || !(knots.front() > 0)) return false;
  return std::adjacent_find(knots.begin(), knots.end(), [](double a, double b) { return !(a < b); }) == knots.end();
}

}  // namespace

std::string flaw(const SurfaceData& s) {
  if (s.axes.empty() || s.axes.size() > max_axes)
    return fmt::format("{} axes; a surface has 1 to {}", s.axes.size(), max_axes);
  std::size_t size = 1;
  for (const std::vector<double>& axis : s.axes) {
    if (!ascending(axis)) return "the knots of an axis must be positive and ascending";
    size *= axis.size();
  }
  if (s.residuals.size() != size) return fmt::format("{} residuals for a grid of {}", s.residuals.size(), size);
  return "";
}

void describe(config::Fields& f, SurfaceData& s) {
  constexpr double most = 2000;    // exp(20): no kernel is that far from its physics
  constexpr double lists = 10000;  // far more than a profile has
  f.required("axes", s.numbers, config::closed(0, lists), "number of each axis in knots; the last axis is the fastest");
  f.required("residuals", s.residuals, config::closed(-most, most),
             "ln(measured / physics) at the knots, in hundredths");
}

Grid::Grid(const std::vector<std::vector<double>>& axes) : dims_(axes.size()) {
  SERVECAST_ENSURE(dims_ >= 1 && dims_ <= max_axes, "a grid of {} axes", dims_);
  size_ = 1;
  for (std::size_t d = dims_; d-- > 0;) {
    SERVECAST_ENSURE(ascending(axes[d]), "axis {} of a grid is not ascending", d);
    for (const double knot : axes[d]) log2_[d].push_back(std::log2(knot));
    stride_[d] = size_;
    size_ *= axes[d].size();
  }
}

std::size_t Grid::corners(const Coordinates& x, Corners& out) const {
  std::size_t count = 1;
  out[0] = {0, 1.0};
  for (std::size_t d = 0; d < dims_; ++d) {
    const std::vector<double>& g = log2_[d];
    const double at = std::clamp(x[d], g.front(), g.back());
    std::size_t cell = 0;
    while (cell + 2 < g.size() && at >= g[cell + 1]) ++cell;
    const auto low = static_cast<std::uint32_t>(cell * stride_[d]);
    const double w = g.size() == 1 ? 0.0 : (at - g[cell]) / (g[cell + 1] - g[cell]);
    for (std::size_t i = 0; i < count; ++i) out[i].index += low;
    if (w == 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      out[count + i] = {out[i].index + static_cast<std::uint32_t>(stride_[d]), out[i].weight * w};
      out[i].weight *= 1 - w;
    }
    count *= 2;
  }
  return count;
}

Surface::Surface(const SurfaceData& data) : grid_(data.axes) {
  values_.reserve(data.residuals.size());
  for (const std::int32_t r : data.residuals) values_.push_back(residual_unit * r);
  SERVECAST_ENSURE(values_.size() == grid_.size(), "{} values on a grid of {}", values_.size(), grid_.size());
}

double Surface::at(const Coordinates& x) const {
  Corners corners;
  const std::size_t n = grid_.corners(x, corners);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += corners[i].weight * values_[corners[i].index];
  return sum;
}

}  // namespace servecast::cost::kernels
