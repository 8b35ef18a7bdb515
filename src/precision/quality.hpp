// What a format leaves of a tensor of a given distribution, measured with the codecs on a fixed sample: the number that
// a precision policy compares with its floor. The lower of two signal-to-noise ratios: over all values, and with every
// channel counting alike, so that loud channels cannot hide what the others lose.
#pragma once

#include "precision/distribution.hpp"
#include "precision/format.hpp"

#include <vector>

namespace servecast::precision {

// dB. The same on every machine and in every call: the sample does not depend on a scenario's seed. Formats without
// error give most_quality_db.
inline constexpr double most_quality_db = 200;
double quality_db(Format format, const Distribution& distribution);

// Remembers what was measured.
class QualityTable {
 public:
  double at(Format format, const Distribution& distribution);

 private:
  struct Entry {
    Format format;
    Distribution distribution;
    double db;
  };
  std::vector<Entry> known_;
};

}  // namespace servecast::precision
