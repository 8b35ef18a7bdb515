// Latencies as the benchmark clients define them, in milliseconds, over completed requests: TTFT from arrival to first
// token; TPOT = (E2E - TTFT) / (output - 1), requests with one output token left out; ITL pooled over every gap between
// tokens (from a sketch, within core::LogSketch::relative_error); E2E from arrival to last token.
// Percentiles interpolate linearly; an empty sample gives 0.
#pragma once

#include "metrics/request_log.hpp"

#include <cstdint>
#include <vector>

namespace servecast::metrics {

struct Distribution {
  std::int64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

// Mean, percentiles and maximum of values; reorders them.
Distribution distribution_of(std::vector<double>& values);

struct Latency {
  Distribution ttft_ms, tpot_ms, itl_ms, e2e_ms;
};

// Latencies of one completed request as its client sees them. client_overhead is what frontend and network add before
// the first token; later tokens are delayed equally, so it cancels in TPOT.
double ttft_ms(const Record& record, core::Duration client_overhead);
double e2e_ms(const Record& record, core::Duration client_overhead);
double tpot_ms(const Record& record);  // 0 with one output token

// scratch is reused between metrics (8 bytes a request) and may be kept for further calls.
Latency measure_latency(const RequestLog& log, core::Duration client_overhead, std::vector<double>& scratch);

}  // namespace servecast::metrics
