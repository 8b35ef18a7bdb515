// Errors of predictions: |predicted / measured - 1| as median and 90th percentile, and the bias, by key and size class.
#pragma once

#include "calibrate/dataset.hpp"
#include "cost/kernels/fitted.hpp"

#include <string>
#include <vector>

namespace servecast::calibrate {

using cost::kernels::Score;

// Rounds to a number of significant decimal digits.
double rounded(double value, int digits);

// Percentiles by linear interpolation; consumes its copy.
Score score_of(std::vector<double> errors);

// "m <= 16", "KV < 30 MB", ...: classes in which errors are reported.
std::string size_class(const Key& key, const Features& x);

// One line of a report.
struct ScoreLine {
  Key key;
  std::string size;  // class; empty: all
  bool inside = true;
  Score score;
  double bias = 0;  // median of predicted / measured - 1
};

// Lines for all rows of a key, then for each size class, rows inside and outside of what was measured apart. predicted
// in us, 0: no prediction (left out).
std::vector<ScoreLine> score_lines(const KeyRows& rows, const std::vector<double>& predicted,
                                   const std::vector<char>& inside);

}  // namespace servecast::calibrate
