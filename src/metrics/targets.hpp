// Latency targets: whether a request meets them, and how a run stands against them at a percentile. A run that is cut
// short leaves requests in flight. Such a request misses a target once it has waited longer than that; before, the
// target is undecided and the request counts neither way. A rejected request misses every target.
#pragma once

#include "metrics/latency.hpp"
#include "metrics/request_log.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::metrics {

// Targets a request must meet; inclusive, only the given ones.
struct Targets {
  std::optional<double> ttft_ms, tpot_ms, e2e_ms;
  bool any() const { return ttft_ms || tpot_ms || e2e_ms; }
};

// What the latencies of a log are seen with: the run's last instant and what the client's side adds.
struct Seen {
  core::Time end;
  core::Duration client_overhead;
};

enum class Outcome : std::uint8_t { Met, Missed, Undecided };
Outcome outcome_of(const Record& record, const Targets& targets, const Seen& seen);

// One target and the value reached at its percentile.
struct TargetValue {
  std::string name;  // "ttft", "tpot", "e2e"
  double target_ms = 0;
  double value_ms = 0;       // over decided requests; infinite: not reached by requests that never got that far
  std::int64_t decided = 0;  // requests behind it
  bool met() const { return value_ms <= target_ms; }
};

// One entry for each target stated, in the order ttft, tpot, e2e.
std::vector<TargetValue> against_targets(const RequestLog& log, const Targets& targets, double percentile,
                                         const Seen& seen);

}  // namespace servecast::metrics
