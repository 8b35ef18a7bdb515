// Collects the points of collectives into curves: sizes measured several times are averaged.
#pragma once

#include "calibrate/operator_rows.hpp"
#include "cost/kernels/curve.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace servecast::calibrate {

class CurveBuilder {
 public:
  void add(const CurvePoint& p);
  std::vector<cost::kernels::Curve> finish() const;  // those of at least two sizes
  std::int64_t alone() const;                        // points of the others

 private:
  using Sizes = std::map<double, std::pair<double, int>>;  // bytes -> sum of times, count
  std::map<std::tuple<std::string, std::string, std::int32_t>, Sizes> curves_;
};

// Every other inner size left out and interpolated: error of that.
cost::kernels::Score leave_out_score(const std::vector<cost::kernels::Curve>& curves);

}  // namespace servecast::calibrate
