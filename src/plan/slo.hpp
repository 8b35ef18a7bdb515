// How a finished run stands against its scenario's latency targets: the value at the stated percentile and the target.
// Requests that did not complete miss every target.
#pragma once

#include "scenario/run.hpp"
#include "scenario/scenario.hpp"

#include <string>
#include <vector>

namespace servecast::plan {

struct TargetValue {
  std::string name;  // "ttft", "tpot", "e2e"
  double target_ms = 0;
  double value_ms = 0;  // infinite: not reached by unfinished requests
  bool met() const { return value_ms <= target_ms; }
};

// One entry for each target stated. Requires: outcome.log.
std::vector<TargetValue> against_targets(const scenario::Slo& slo, const scenario::RunOutcome& outcome);

}  // namespace servecast::plan
