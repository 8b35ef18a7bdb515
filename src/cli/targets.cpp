#include "cli/targets.hpp"

#include "config/document.hpp"
#include "core/error.hpp"
#include "core/statistics.hpp"
#include "core/units.hpp"
#include "metrics/latency.hpp"

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

std::vector<std::string> failed_thresholds(const std::vector<scenario::Threshold>& thresholds,
                                           const std::string& result_json) {
  std::vector<std::string> out;
  if (thresholds.empty()) return out;
  const config::Document result = config::Document::from_text(result_json, "result");
  core::Problems problems;
  for (const scenario::Threshold& t : thresholds) {
    const std::optional<double> value = result.number(t.metric);
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
