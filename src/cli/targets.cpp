#include "cli/targets.hpp"

#include "config/closest.hpp"
#include "config/document.hpp"
#include "core/error.hpp"
#include "core/statistics.hpp"
#include "core/units.hpp"
#include "metrics/latency.hpp"
#include "report/result_json.hpp"

#include <fmt/format.h>

#include <limits>

namespace servecast::cli {

namespace {

// A value no target allows, for requests without an answer.
constexpr double never_ms = std::numeric_limits<double>::max() / 4;

template <typename Value>
double percentile_of(const scenario::RunOutcome& outcome, double p, Value value) {
  std::vector<double> values;
  const metrics::Records& records = outcome.log->records();
  values.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].completed())
      values.push_back(never_ms);
    else if (const double v = value(records[i]); v >= 0)
      values.push_back(v);
  }
  return core::percentile(values, p);
}

std::string missed(std::string_view name, double target, double value, double p) {
  const std::string shown =
      value >= never_ms / 2 ? "not reached by unfinished requests" : fmt::format("{} ms", core::number_text(value));
  return fmt::format("target missed: {} p{:g} {}, target {} ms", name, p, shown, core::number_text(target));
}

constexpr std::string_view by_reason = "/requests/rejected_by_reason/";

// A result with every number that a run of the scenario can have.
metrics::Result fullest_result(const scenario::Resolved& r) {
  metrics::Result full;
  full.verdict.load_factor = 0;
  full.duration_s = 0;
  full.gpus = r.gpus_used();
  full.latency.emplace(), full.throughput.emplace(), full.time.emplace();
  const scenario::Slo& slo = r.scenario.slo;
  if (slo.ttft_ms || slo.tpot_ms || slo.e2e_ms) full.goodput.emplace();
  for (const scenario::Pool& pool : r.scenario.pools) {
    metrics::PoolMemory& memory = full.memory.emplace_back();
    memory.pool = pool.name;
    if (pool.engine.enable_prefix_caching.value_or(true)) memory.prefix_hit_rate = 0;
  }
  if (r.gpu.tdp_w > 0 && !r.scenario.cost.fixed) full.energy.emplace();
  if (r.scenario.price.gpu_hour_usd) full.cost.emplace();
  metrics::Confidence& confidence = full.confidence.emplace();
  confidence.ttft_ms = confidence.tpot_ms = confidence.e2e_ms = 0;
  return full;
}

}  // namespace

std::vector<std::string> missed_targets(const scenario::Slo& slo, const scenario::RunOutcome& outcome) {
  std::vector<std::string> out;
  const core::Duration overhead = outcome.client_overhead;
  const auto check = [&](std::string_view name, const std::optional<double>& target, auto value) {
    if (!target) return;
    const double reached = percentile_of(outcome, slo.percentile, value);
    if (reached > *target) out.push_back(missed(name, *target, reached, slo.percentile));
  };
  check("ttft", slo.ttft_ms, [overhead](const metrics::Record& r) { return metrics::ttft_ms(r, overhead); });
  check("tpot", slo.tpot_ms, [](const metrics::Record& r) { return r.output_tokens > 1 ? metrics::tpot_ms(r) : -1.0; });
  check("e2e", slo.e2e_ms, [overhead](const metrics::Record& r) { return metrics::e2e_ms(r, overhead); });
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
    if (result.number(metric) || metric.starts_with(by_reason)) continue;
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
