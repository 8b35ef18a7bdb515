// How well predictions agree with measurements: the figures that validation reports. Errors are relative,
// predicted / measured - 1.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace servecast::fidelity {

struct Pair {
  double predicted = 0;
  double measured = 0;
};

struct Accuracy {
  std::size_t count = 0;
  double median = 0;  // of the absolute error
  double p90 = 0;
  double bias = 0;             // median of the signed error
  double worst = 0;            // largest absolute error
  std::optional<double> rank;  // Spearman's correlation; none below three rows or where all values are equal
};

Accuracy accuracy_of(std::span<const Pair> pairs);

// Spearman's rank correlation; equal values share their mean rank. Requires: equal sizes.
std::optional<double> spearman(std::span<const double> a, std::span<const double> b);

// Ranks from 1, ties at their mean.
std::vector<double> ranks(std::span<const double> values);

}  // namespace servecast::fidelity
