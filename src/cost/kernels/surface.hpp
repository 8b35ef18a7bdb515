// A multilinear function on a coarse grid of log2 coordinates: the logarithm of what a measured kernel takes beyond its
// physics. Outside the grid it is constant, so the physics extrapolates. Values are exact at the knots.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::cost::kernels {

inline constexpr std::size_t max_axes = 4;
using Coordinates = std::array<double, max_axes>;  // log2

// As documents hold it. axes: ascending positive knots, in documents by their number in the profile's list of them;
// residuals: hundredths of a natural logarithm, row-major, last axis fastest.
inline constexpr double residual_unit = 0.01;
struct SurfaceData {
  std::vector<std::vector<double>> axes;
  std::vector<std::int32_t> residuals;
  std::vector<std::int32_t> numbers;  // of the axes, in documents only
};
std::string flaw(const SurfaceData& s);  // what is wrong with it; empty: nothing
void describe(config::Fields& f, SurfaceData& s);

// A corner of the cell around a point, with its weight.
struct Corner {
  std::uint32_t index = 0;
  double weight = 0;
};
using Corners = std::array<Corner, std::size_t{1} << max_axes>;

class Grid {
 public:
  explicit Grid(const std::vector<std::vector<double>>& axes);  // Requires: 1 to 4 ascending positive axes
  std::size_t size() const { return size_; }
  std::size_t dimensions() const { return dims_; }
  const std::vector<double>& knots(std::size_t axis) const { return log2_[axis]; }
  std::size_t stride(std::size_t axis) const { return stride_[axis]; }
  // Fills the corners around x, clamped to the grid; their number.
  std::size_t corners(const Coordinates& x, Corners& out) const;

 private:
  std::size_t dims_ = 0;
  std::size_t size_ = 0;
  std::array<std::vector<double>, max_axes> log2_;
  std::array<std::size_t, max_axes> stride_{};
};

class Surface {
 public:
  explicit Surface(const SurfaceData& data);
  double at(const Coordinates& x) const;
  const Grid& grid() const { return grid_; }

 private:
  Grid grid_;
  std::vector<double> values_;
};

}  // namespace servecast::cost::kernels
