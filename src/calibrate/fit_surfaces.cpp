#include "calibrate/fit.hpp"
#include "calibrate/slow_tactics.hpp"
#include "cost/kernels/physics.hpp"
#include "cost/kernels/surface.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace servecast::calibrate {

namespace {

using cost::kernels::Family;
using cost::kernels::Grid;

constexpr double robust_scale = 0.05;  // of a residual in ln, from which its weight falls
constexpr int passes = 4;
constexpr int tactic_passes = 3;  // more, of autotuned kernels, whose curves have weights of their own

// Curvature and size penalties per family; the result is insensitive to a factor of three (docs/models/kernels.md).
struct Penalty {
  double curvature = 0.03;
  double size = 0.01;
};
Penalty penalty(Family f) {
  if (f == Family::MlaDecode || f == Family::MlaPrefill) return {0.01, 0.01};
  if (f == Family::Moe) return {0.03, 0.1};
  return {};
}

// The hat functions that are non-zero at a row, of all surfaces side by side.
struct Hats {
  std::vector<std::uint32_t> first;  // per row, into the two below; one more than rows
  std::vector<std::uint32_t> index;
  std::vector<double> weight;
};

Hats hats_of(const Context& c, const std::vector<Grid>& grids, const Rows& rows) {
  Hats h;
  h.first.push_back(0);
  cost::kernels::Coordinates at{};
  cost::kernels::Corners corners;
  for (const Observation* r : rows) {
    std::size_t offset = 0;
    for (std::size_t term = 0; term < grids.size(); ++term) {
      if (coordinates(c, term, r->x, at)) {
        const std::size_t n = grids[term].corners(at, corners);
        for (std::size_t i = 0; i < n; ++i) {
          h.index.push_back(static_cast<std::uint32_t>(offset + corners[i].index));
          h.weight.push_back(corners[i].weight);
        }
      }
      offset += grids[term].size();
    }
    h.first.push_back(static_cast<std::uint32_t>(h.index.size()));
  }
  return h;
}

// Adds lambda D^T D, D the second divided difference along every axis.
void add_curvature(Eigen::MatrixXd& m, const Grid& grid, std::size_t offset, double lambda) {
  for (std::size_t axis = 0; axis < grid.dimensions(); ++axis) {
    const std::vector<double>& g = grid.knots(axis);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const std::size_t k = i / grid.stride(axis) % g.size();
      if (k == 0 || k + 1 == g.size()) continue;
      const double left = 1 / (g[k] - g[k - 1]), right = 1 / (g[k + 1] - g[k]);
      const double d[3] = {left, -left - right, right};
      const std::size_t at[3] = {offset + i - grid.stride(axis), offset + i, offset + i + grid.stride(axis)};
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          m(static_cast<Eigen::Index>(at[a]), static_cast<Eigen::Index>(at[b])) += lambda * d[a] * d[b];
    }
  }
}

double value(const Hats& h, std::size_t row, const Eigen::VectorXd& c) {
  double sum = 0;
  for (std::size_t i = h.first[row]; i < h.first[row + 1]; ++i) sum += h.weight[i] * c[h.index[i]];
  return sum;
}

std::vector<double> residuals(const Hats& h, const std::vector<double>& y, const Eigen::VectorXd& c) {
  std::vector<double> out(y.size());
  for (std::size_t row = 0; row < y.size(); ++row) out[row] = y[row] - value(h, row, c);
  return out;
}

Eigen::VectorXd solve(const Eigen::MatrixXd& prior, const Hats& h, const Rows& rows, const std::vector<double>& y,
                      bool tactics) {
  Eigen::VectorXd c = Eigen::VectorXd::Zero(prior.rows());
  std::vector<double> weights(y.size(), 1.0);
  for (int pass = 0; pass < passes + (tactics ? tactic_passes : 0); ++pass) {
    const std::vector<double> left = residuals(h, y, c);
    if (pass >= passes) weights = curve_weights(rows, left);
    Eigen::MatrixXd m = prior;
    Eigen::VectorXd right = Eigen::VectorXd::Zero(prior.rows());
    for (std::size_t row = 0; row < y.size(); ++row) {
      const double r = left[row] / robust_scale;
      const double w = pass == 0 ? 1 : weights[row] / std::sqrt(1 + r * r);
      for (std::size_t i = h.first[row]; i < h.first[row + 1]; ++i) {
        const double wi = w * h.weight[i];
        right[h.index[i]] += wi * y[row];
        for (std::size_t j = h.first[row]; j < h.first[row + 1]; ++j)
          if (h.index[j] <= h.index[i]) m(h.index[i], h.index[j]) += wi * h.weight[j];
      }
    }
    c = m.selfadjointView<Eigen::Lower>().llt().solve(right);
  }
  return c;
}

}  // namespace

std::vector<SurfaceData> fit_surfaces(const Context& c, const std::vector<std::vector<std::vector<double>>>& axes,
                                      const Rows& rows, const std::vector<double>& y, bool tactics) {
  std::vector<Grid> grids;
  std::size_t unknowns = 0;
  for (const auto& a : axes) unknowns += grids.emplace_back(a).size();
  if (unknowns == 0) return {};
  const Penalty p = penalty(c.family);
  Eigen::MatrixXd prior =
      Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(unknowns), static_cast<Eigen::Index>(unknowns)) * p.size;
  std::size_t offset = 0;
  for (const Grid& g : grids) {
    add_curvature(prior, g, offset, p.curvature);
    offset += g.size();
  }
  const Eigen::VectorXd solution = solve(prior, hats_of(c, grids, rows), rows, y, tactics);
  std::vector<SurfaceData> out;
  offset = 0;
  for (std::size_t s = 0; s < grids.size(); ++s) {
    SurfaceData data{axes[s], {}, {}};
    for (std::size_t i = 0; i < grids[s].size(); ++i)
      data.residuals.push_back(static_cast<std::int32_t>(
          std::lround(solution[static_cast<Eigen::Index>(offset + i)] / cost::kernels::residual_unit)));
    offset += grids[s].size();
    out.push_back(std::move(data));
  }
  return out;
}

}  // namespace servecast::calibrate
