// Rates over the run's duration: from the first arrival to the last completion, or to the run's end where requests were
// left unfinished. Only completed requests deliver tokens.
#pragma once

#include "metrics/latency.hpp"
#include "metrics/request_log.hpp"

#include <cstdint>
#include <optional>

namespace servecast::metrics {

// Targets a request must meet; inclusive, only the given ones.
struct Targets {
  std::optional<double> ttft_ms, tpot_ms, e2e_ms;
  bool any() const { return ttft_ms || tpot_ms || e2e_ms; }
};

struct Throughput {
  double requests_per_s = 0;
  double output_tokens_per_s = 0;
  double total_tokens_per_s = 0;  // prompt and output
  double output_tokens_per_s_per_gpu = 0;
  double tokens_per_s_per_user = 0;  // 1 / mean TPOT; 0 when no request has a second token
};

struct Goodput {
  double requests_per_s = 0;  // completed within the targets, per second
  double slo_attainment = 0;  // the same over all requests that arrived, rejected and unfinished ones included
  std::int64_t good = 0;
};

// end: last simulated instant.
core::Duration run_duration(const RequestLog& log, core::Time end);
Throughput measure_throughput(const RequestLog& log, core::Duration duration, std::int64_t gpus, double mean_tpot_ms);
Goodput measure_goodput(const RequestLog& log, core::Duration duration, const Targets& targets,
                        core::Duration client_overhead);

}  // namespace servecast::metrics
