// Fits one kernel family in one format: physics first (bounded Levenberg-Marquardt on the logarithm of the time,
// robust), then the residual surfaces (regularised least squares, reweighted against outliers). Always relative errors:
// absolute ones would be ruled by the longest rows. Deterministic: samples come from a named stream.
#pragma once

#include "calibrate/dataset.hpp"
#include "cost/kernels/fitted.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace servecast::calibrate {

using cost::kernels::Context;
using cost::kernels::Fit;
using cost::kernels::Machine;
using cost::kernels::Parameters;
using cost::kernels::SurfaceData;

// Rows are passed by pointer, so that subsets cost nothing.
using Rows = std::vector<const Observation*>;
Rows all_rows(const KeyRows& rows);

// Parameters of the physics, from the family's starts, within its bounds. Requires: rows not empty.
Parameters fit_physics(const Context& c, const Rows& rows);

// Surfaces over the axes for y = ln(measured / physics), one value per row. tactics: curves above the others count
// less.
std::vector<SurfaceData> fit_surfaces(const Context& c, const std::vector<std::vector<std::vector<double>>>& axes,
                                      const Rows& rows, const std::vector<double>& y, bool tactics);

// The whole fit, rounded as a profile stores it, with its error on the rows. Requires: at least min_rows rows.
inline constexpr std::size_t min_rows = 20;
Fit fit(const Key& key, const Rows& rows, const Machine& machine);

// Predictions in us for every row by fits that did not see the row's key group: whole groups are held out in turn, five
// folds, or one group at a time where there are few. 0 where a row's group is an end of the measured range.
std::vector<double> cross_validate(const KeyRows& rows, const Machine& machine);

// Everything a data set holds as a profile. Keys with fewer than min_rows rows are reported and left out.
struct ProfileOptions {
  bool cross_validate = true;
  bool monotone = false;  // project GEMMs at their knots
  std::string note;
};
cost::kernels::KernelProfile fit_profile(const Dataset& data, const hardware::Gpu& gpu, const ProfileOptions& options,
                                         std::vector<std::string>& warnings);

}  // namespace servecast::calibrate
