// All schemes on one tensor: what `servecast numerics formats` shows.
#pragma once

#include "precision/quantisation_error.hpp"
#include "precision/scheme.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace servecast::precision {

struct SchemeResult {
  Scheme scheme;
  double bits = 0;  // per element, scales included
  QuantisationError error;
  std::optional<double> cosine;  // of product_cosine: the matrix and a Gaussian vector, both quantised
};

struct SchemeComparison {
  RangeStatistics statistics;
  std::vector<SchemeResult> results;
};

SchemeComparison compare_schemes(const Matrix& matrix, std::span<const Scheme> schemes, std::uint64_t seed);

}  // namespace servecast::precision
