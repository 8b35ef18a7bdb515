#include "cli/targets.hpp"

#include "config/closest.hpp"
#include "config/document.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "report/result_json.hpp"

#include <fmt/format.h>

#include <cmath>

namespace servecast::cli {

namespace {

constexpr std::string_view by_reason = "/requests/rejected_by_reason/";

// A result with every number that a run of the scenario can have.
metrics::Result fullest_result(const scenario::Resolved& r) {
  metrics::Result full;
  full.verdict.load_factor = 0;
  full.duration_s = 0;
  full.gpus = r.gpus_used();
  full.latency.emplace(), full.throughput.emplace(), full.time.emplace();
  const scenario::Slo& slo = r.scenario.slo;
  if (slo.ttft_ms || slo.tpot_ms || slo.e2e_ms) full.goodput.emplace().undecided = 1;
  for (const scenario::Pool& pool : r.scenario.pools) {
    metrics::PoolMemory& memory = full.memory.emplace_back();
    memory.pool = pool.name;
    if (pool.engine.enable_prefix_caching.value_or(true)) memory.prefix_hit_rate = 0;
  }
  const bool power = r.gpu.tdp_w > 0 && r.node.node_overhead_w > 0;
  if (power && !r.scenario.cost.fixed) full.energy.emplace();
  if (!r.scenario.cost.fixed) full.origin.emplace();
  if (r.scenario.price.gpu_hour_usd) full.cost.emplace();
  metrics::Confidence& confidence = full.confidence.emplace();
  confidence.ttft_ms = confidence.tpot_ms = confidence.e2e_ms = 0;
  return full;
}

}  // namespace

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

void check_thresholds(const scenario::Resolved& r) {
  if (r.scenario.thresholds.empty()) return;
  const std::string fullest = report::result_json(fullest_result(r));
  const config::Document result = config::Document::from_text(fullest, "result");
  const std::vector<std::string> known = result.number_pointers();
  core::Problems problems;
  for (std::size_t i = 0; i < r.scenario.thresholds.size(); ++i) {
    const std::string& metric = r.scenario.thresholds[i].metric;
    if (result.number(metric) || result.is_null(metric) || metric.starts_with(by_reason)) continue;
    const auto near = config::closest(metric, std::vector<std::string_view>(known.begin(), known.end()));
    problems.add(
        r.threshold_places[i], "a result of this scenario has no number at {}{}", metric,
        near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; servecast run --json shows what it has"));
  }
  problems.raise_if_any();
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
      problems.add("thresholds", "this result has no number at {}; servecast run --json shows what it has", t.metric);
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
