// Whether a run met what its scenario demands: latency targets (slo) and thresholds on any number of the result.
#pragma once

#include "metrics/targets.hpp"
#include "scenario/build.hpp"
#include "scenario/scenario.hpp"

#include <string>
#include <vector>

namespace servecast::cli {

// One line for each latency target missed at the stated percentile.
std::vector<std::string> missed_targets(const std::vector<metrics::TargetValue>& targets, double percentile);

// Refuses thresholds on what a result of this scenario cannot hold. Throws core::InputError with every problem.
void check_thresholds(const scenario::Resolved& r);

// One line for each threshold that fails. A metric that the result lacks throws core::InputError.
std::vector<std::string> failed_thresholds(const std::vector<scenario::Threshold>& thresholds,
                                           const std::string& result_json);

}  // namespace servecast::cli
