// MoE kernels that an autotuner chooses: for 2-35 % of their curves (rows that differ in tokens only) it keeps a
// fallback ("tactic") that takes 1.3 to 6 times what its neighbours take. Which curves, nothing predicts: the same
// shape on another GPU, in another format or under another routing is fast. An autotuner only ever loses time, so
// curves above the others count less in a fit; those far above are named. The curves stay in every score unless it says
// otherwise.
#pragma once

#include "calibrate/dataset.hpp"
#include "cost/kernels/fitted.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::calibrate {

using Rows = std::vector<const Observation*>;

bool autotuned(const Key& key);

// Weight of each row: 1 where the median of its curve's residuals (ln of measured / model) is not above 0, else
// falling.
std::vector<double> curve_weights(const Rows& rows, const std::vector<double>& residuals);

// Removes from rows the curves whose median is far above the physics; how many rows.
std::int64_t remove_slow_curves(const cost::kernels::FittedKernel& model, Rows& rows);

// Which rows are of curves whose median is at least half above what was predicted; predicted 0: not counted.
std::vector<char> slow_rows(const KeyRows& rows, const std::vector<double>& predicted);

// The curves of those rows, one line per shape and routing, each with its median of measured / predicted.
std::vector<std::string> slow_curves(const KeyRows& rows, const std::vector<double>& predicted);

}  // namespace servecast::calibrate
