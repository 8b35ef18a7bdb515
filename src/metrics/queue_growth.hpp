// Evidence for the verdict, read from the records: how the number in the system grew over the arrival window, and how
// waits developed. TTFT of a request that never got a token counts as its wait so far. Large runs are sampled evenly.
#pragma once

#include "metrics/number_in_system.hpp"
#include "metrics/request_log.hpp"

namespace servecast::metrics {

constexpr std::int64_t min_arrivals = 50;  // fewer say nothing about a trend; assumed

struct QueueGrowth {
  bool enough = false;       // the window holds enough requests to show a trend
  bool long_enough = false;  // the window holds enough requests and outlasts the filling of the batches twice
  double fill_s = 0;         // time until the batches are full
  double growth = 0;         // of N from the end of the filling to the end of the window
  double first_half = 0;     // part of it before the middle of that span
  double noise = 0;          // standard deviation of N's change for a system at its capacity
  double arrivals = 0;       // in that span
  double departures = 0;
  double climb = 0;        // largest rise of N between two instants of the whole window
  double climb_noise = 0;  // as noise, for the whole window
};

struct Waits {
  double base_s = 0;     // 10th percentile of TTFT: next to no queue
  double first_s = 0;    // median TTFT of the first tenth of the arrivals
  double last_s = 0;     // of the last tenth
  double slowest_s = 0;  // of the slowest tenth
};

Waits measure_waits(const RequestLog& log, core::Time end);
QueueGrowth measure_growth(const RequestLog& log, const NumberInSystem& n);

}  // namespace servecast::metrics
