#include "cli/targets.hpp"

#include "config/document.hpp"
#include "core/error.hpp"
#include "core/units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace servecast::cli {

std::vector<std::string> missed_targets(const std::vector<metrics::TargetValue>& targets, double percentile) {
  std::vector<std::string> out;
  for (const metrics::TargetValue& t : targets) {
    if (t.met()) continue;
    const std::string reached = std::isinf(t.value_ms) ? "not reached in time by unfinished or rejected requests"
                                                       : fmt::format("{} ms", core::number_text(t.value_ms));
    out.push_back(fmt::format("target missed: {} p{:g} {}, target {} ms", t.name, percentile, reached,
                              core::number_text(t.target_ms)));
  }
  return out;
}

std::vector<std::string> failed_thresholds(const std::vector<scenario::Threshold>& thresholds,
                                           const std::string& result_json) {
  std::vector<std::string> out;
  if (thresholds.empty()) return out;
  const config::Document result = config::Document::from_text(result_json, "result");
  core::Problems problems;
  for (const scenario::Threshold& t : thresholds) {
    const std::optional<double> value = result.number(t.metric);
    if (!value && result.is_null(t.metric)) {
      out.push_back(fmt::format("threshold failed: {} is unknown, because nothing was measured", t.metric));
      continue;
    }
    if (!value) {
      problems.add("thresholds", "the result has no number at {}; servecast run --json shows what it has", t.metric);
      continue;
    }
    if (t.max && *value > *t.max)
      out.push_back(fmt::format("threshold failed: {} is {}, at most {}", t.metric, *value, *t.max));
    if (t.min && *value < *t.min)
      out.push_back(fmt::format("threshold failed: {} is {}, at least {}", t.metric, *value, *t.min));
  }
  problems.raise_if_any();
  return out;
}

}  // namespace servecast::cli
