#include "precision/quality.hpp"

#include "precision/quantisation_error.hpp"
#include "precision/quantise.hpp"

#include <algorithm>

namespace servecast::precision {
namespace {

// 64 Ki values repeat the SQNR of a Gaussian tensor of a million within 0.1 dB; rows are long enough for small shares
// of outlier channels.
constexpr std::int64_t sample_rows = 32;
constexpr std::int64_t sample_columns = 2048;
constexpr std::uint64_t sample_seed = 1;

}  // namespace

double quality_db(Format format, const Distribution& distribution) {
  const std::vector<float> values = draw(distribution, sample_rows, sample_columns, sample_seed, "quality");
  const Quantised q = quantise(scheme_of(format), values, sample_rows, sample_columns);
  const QuantisationError e = quantisation_error({values, sample_rows, sample_columns}, dequantise(q));
  return std::min({e.sqnr_db.value_or(most_quality_db), e.column_sqnr_db.value_or(most_quality_db), most_quality_db});
}

double QualityTable::at(Format format, const Distribution& distribution) {
  for (const Entry& e : known_)
    if (e.format == format && e.distribution == distribution) return e.db;
  known_.push_back({format, distribution, quality_db(format, distribution)});
  return known_.back().db;
}

}  // namespace servecast::precision
