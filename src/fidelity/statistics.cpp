#include "fidelity/statistics.hpp"

#include "core/error.hpp"
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace servecast::fidelity {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> out(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double mean = static_cast<double>(first + last) / 2 + 1;
    for (std::size_t i = first; i <= last; ++i) out[order[i]] = mean;
    first = last + 1;
  }
  return out;
}

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  SERVECAST_ENSURE(a.size() == b.size(), "{} values against {}", a.size(), b.size());
  if (a.size() < 3) return std::nullopt;
  const std::vector<double> ra = ranks(a);
  const std::vector<double> rb = ranks(b);
  const double mean = static_cast<double>(a.size() + 1) / 2;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < ra.size(); ++i) {
    ab += (ra[i] - mean) * (rb[i] - mean);
    aa += (ra[i] - mean) * (ra[i] - mean);
    bb += (rb[i] - mean) * (rb[i] - mean);
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

Accuracy accuracy_of(std::span<const Pair> pairs) {
  Accuracy out;
  out.count = pairs.size();
  std::vector<double> error;
  std::vector<double> absolute;
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const Pair& p : pairs) {
    error.push_back(p.predicted / p.measured - 1);
    absolute.push_back(std::abs(error.back()));
    predicted.push_back(p.predicted);
    measured.push_back(p.measured);
  }
  if (pairs.empty()) return out;
  out.rank = spearman(predicted, measured);
  out.worst = *std::max_element(absolute.begin(), absolute.end());
  out.median = core::percentile(absolute, 50);
  out.p90 = core::percentile(absolute, 90);
  out.bias = core::percentile(error, 50);
  return out;
}

}  // namespace servecast::fidelity
