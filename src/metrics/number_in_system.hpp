// Number of requests in the system, N(t), in equal bins over the arrival window and one last bin until the run's end.
// Built from the records in one pass without sorting; the integral of N over time is exact up to rounding.
#pragma once

#include "metrics/record_store.hpp"

#include <cstdint>
#include <vector>

namespace servecast::metrics {

struct SystemBin {
  std::int64_t arrivals = 0;
  std::int64_t departures = 0;  // completions and rejections
  std::int64_t at_end = 0;      // N at the bin's upper edge
};

struct NumberInSystem {
  core::Time begin;             // first arrival
  core::Time window_end;        // last arrival, or the run's end where that is earlier
  core::Time end;               // of the run
  core::Duration width;         // of one bin of the window
  std::vector<SystemBin> bins;  // of the window
  SystemBin tail;               // (window_end, end]
  double request_seconds = 0;   // integral of N(t) over [begin, end], by bins
  double mean() const;          // time average of N; 0 for an empty span
};

// Requires: end is not before any arrival, first token or finish in the records.
NumberInSystem number_in_system(const Records& records, core::Time end, std::int32_t bins = 200);

}  // namespace servecast::metrics
