// How far the means of a run can be trusted: warm-up by MSER-5 on TTFT in order of arrival, 95 % half-widths by batch
// means over what follows, and the number of independent observations the run is worth.
#pragma once

#include "metrics/request_log.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace servecast::metrics {

struct Confidence {
  std::int64_t warmup_dropped = 0;  // requests left out of the intervals; the other metrics count all requests
  bool warmup_conclusive = false;   // false: the run is too short to tell where its warm-up ends
  double effective_samples = 0;     // of TTFT: variance of one observation / variance of the mean
  double lag1_correlation = 0;      // of TTFT batches; above 0.2 the half-widths are too small
  std::optional<double> ttft_ms, tpot_ms, e2e_ms;  // half-widths of the means; none when the run is too short
};

Confidence measure_confidence(const RequestLog& log, core::Duration client_overhead, std::vector<double>& scratch);

}  // namespace servecast::metrics
