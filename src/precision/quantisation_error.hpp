// What quantisation does to a tensor, as numbers that do not depend on its unit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace servecast::precision {

// A row-major matrix that somebody else keeps; columns are its channels.
struct Matrix {
  std::span<const float> values;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Of the finite values.
struct RangeStatistics {
  double rms = 0;
  double amax = 0;
  double kurtosis = 0;        // fourth moment over squared second, about zero: 3 for a Gaussian; 0 when all are zero
  std::int64_t infinite = 0;  // values that are infinite or NaN
};

RangeStatistics range_statistics(std::span<const float> values);

struct QuantisationError {
  std::optional<double> sqnr_db;         // 10 log10(sum x^2 / sum (x - y)^2); absent: no error at all
  std::optional<double> column_sqnr_db;  // the same with every column scaled to the same power: each counts alike
  double max_error = 0;                  // largest |x - y| over the root mean square of x
  double flushed = 0;                    // share of all values that became zero and were not
  double lost = 0;                       // share of all values that were finite and are not any more
  std::int64_t compared = 0;             // values that are finite in both; with none, nothing above says anything
};

// Over the values that are finite in both. Requires: equal shapes.
QuantisationError quantisation_error(const Matrix& exact, std::span<const float> quantised);

// Cosine of the angle between a x and b y, products of two matrices by a vector each; absent where a vector is zero or
// not finite, or where a matrix has one row alone. Requires: x and y as long as a row.
std::optional<double> product_cosine(const Matrix& a, std::span<const float> x, const Matrix& b,
                                     std::span<const float> y);

}  // namespace servecast::precision
