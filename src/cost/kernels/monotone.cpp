#include "cost/kernels/monotone.hpp"

#include "core/error.hpp"

#include <cmath>
#include <cstddef>

namespace servecast::cost::kernels {

namespace {

struct Block {
  double sum = 0;
  std::size_t count = 0;
  double mean() const { return sum / static_cast<double>(count); }
};

// Applies the regression along one axis of a row-major array.
void project(std::vector<double>& values, const Grid& grid, std::size_t axis) {
  const std::size_t n = grid.knots(axis).size(), stride = grid.stride(axis);
  std::vector<double> line(n);
  for (std::size_t start = 0; start < values.size(); ++start) {
    if (start / stride % n != 0) continue;
    for (std::size_t i = 0; i < n; ++i) line[i] = values[start + i * stride];
    isotonic(line);
    for (std::size_t i = 0; i < n; ++i) values[start + i * stride] = line[i];
  }
}

}  // namespace

void isotonic(std::vector<double>& values) {
  std::vector<Block> blocks;
  for (const double v : values) {
    blocks.push_back({v, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      blocks[blocks.size() - 2].sum += blocks.back().sum;
      blocks[blocks.size() - 2].count += blocks.back().count;
      blocks.pop_back();
    }
  }
  std::size_t i = 0;
  for (const Block& b : blocks)
    for (std::size_t j = 0; j < b.count; ++j) values[i++] = b.mean();
}

void make_monotone(Fit& fit, const Machine& machine) {
  SERVECAST_ENSURE(fit.key.family == Family::Gemm && !fit.surfaces.empty(), "only GEMM fits are made monotone");
  SurfaceData& surface = fit.surfaces.front();
  const Grid grid(surface.axes);
  const Context c = context(fit.key, machine);
  std::vector<double> log_physics;
  for (const double m : surface.axes[0])
    for (const double n : surface.axes[1])
      for (const double k : surface.axes[2])
        log_physics.push_back(std::log(physics(c, fit.physics.front().values, {m, n, k}, false).us));
  std::vector<double> values(grid.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = log_physics[i] + residual_unit * surface.residuals[i];
  project(values, grid, 0);
  project(values, grid, 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    surface.residuals[i] = static_cast<std::int32_t>(std::lround((values[i] - log_physics[i]) / residual_unit));
}

}  // namespace servecast::cost::kernels
