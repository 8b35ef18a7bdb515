#include "precision/compare_schemes.hpp"

#include "precision/distribution.hpp"
#include "precision/quantise.hpp"

namespace servecast::precision {

SchemeComparison compare_schemes(const Matrix& matrix, std::span<const Scheme> schemes, std::uint64_t seed) {
  SchemeComparison out;
  out.statistics = range_statistics(matrix.values);
  const std::vector<float> vector = draw({}, 1, matrix.columns, seed, "vector");
  for (const Scheme& scheme : schemes) {
    const std::vector<float> values = dequantise(quantise(scheme, matrix.values, matrix.rows, matrix.columns));
    const std::vector<float> other = dequantise(quantise(scheme, vector, 1, matrix.columns));
    const Matrix quantised{values, matrix.rows, matrix.columns};
    out.results.push_back({scheme, bits_per_element(scheme, matrix.rows, matrix.columns),
                           quantisation_error(matrix, values), product_cosine(matrix, vector, quantised, other)});
  }
  return out;
}

}  // namespace servecast::precision
