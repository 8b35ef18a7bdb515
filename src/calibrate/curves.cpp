#include "calibrate/curves.hpp"

#include "calibrate/score.hpp"

#include <cmath>

namespace servecast::calibrate {

void CurveBuilder::add(const CurvePoint& p) {
  auto& [sum, count] = curves_[{p.op, p.mode, p.ranks}][p.bytes];
  sum += p.us;
  ++count;
}

std::int64_t CurveBuilder::alone() const {
  std::int64_t rows = 0;
  for (const auto& [key, sizes] : curves_) rows += sizes.size() == 1 ? sizes.begin()->second.second : 0;
  return rows;
}

std::vector<cost::kernels::Curve> CurveBuilder::finish() const {
  std::vector<cost::kernels::Curve> out;
  for (const auto& [key, sizes] : curves_) {
    if (sizes.size() == 1) continue;
    cost::kernels::Curve c;
    std::tie(c.op, c.mode, c.ranks) = key;
    for (const auto& [bytes, times] : sizes) {
      c.bytes.push_back(bytes);
      c.us.push_back(rounded(times.first / times.second, 4));
    }
    out.push_back(std::move(c));
  }
  return out;
}

cost::kernels::Score leave_out_score(const std::vector<cost::kernels::Curve>& curves) {
  std::vector<double> errors;
  for (const auto& c : curves) {
    cost::kernels::Curve half{c.op, c.mode, c.ranks, {}, {}};
    for (std::size_t i = 0; i < c.bytes.size(); ++i) {
      if (i % 2 != 0 && i + 1 < c.bytes.size()) continue;
      half.bytes.push_back(c.bytes[i]);
      half.us.push_back(c.us[i]);
    }
    cost::kernels::CurveSet set(c.op, c.mode);
    set.add(half);
    for (std::size_t i = 1; i + 1 < c.bytes.size(); i += 2) {
      cost::kernels::CurveTime t;
      if (set.time(c.bytes[i], c.ranks, t)) errors.push_back(std::abs(t.us / c.us[i] - 1));
    }
  }
  return score_of(errors);
}

}  // namespace servecast::calibrate
