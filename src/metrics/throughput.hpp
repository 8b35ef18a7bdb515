// Rates over the run's duration as clients see it: from the first arrival until the last answer has reached its client,
// or to the run's end where requests were left unfinished. So no latency exceeds it. Only completed requests deliver
// tokens.
#pragma once

#include "metrics/latency.hpp"
#include "metrics/request_log.hpp"
#include "metrics/targets.hpp"

#include <cstdint>
#include <optional>

namespace servecast::metrics {

struct Throughput {
  double requests_per_s = 0;
  double output_tokens_per_s = 0;
  double total_tokens_per_s = 0;  // prompt and output
  double output_tokens_per_s_per_gpu = 0;
  double tokens_per_s_per_user = 0;  // 1 / mean TPOT; 0 when no request has a second token
};

struct Goodput {
  double requests_per_s = 0;             // completed within the targets, per second
  std::optional<double> slo_attainment;  // share of all requests but the undecided ones; none where all are undecided
  std::int64_t good = 0;
  std::int64_t undecided = 0;  // in flight at the end without having missed a target
};

// Inside the engines, without what the client's side adds. end: last simulated instant.
core::Duration run_duration(const RequestLog& log, core::Time end);
Throughput measure_throughput(const RequestLog& log, core::Duration duration, std::int64_t gpus, double mean_tpot_ms);
Goodput measure_goodput(const RequestLog& log, core::Duration duration, const Targets& targets, const Seen& seen);

}  // namespace servecast::metrics
