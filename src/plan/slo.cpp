#include "plan/slo.hpp"

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "metrics/latency.hpp"

#include <limits>
#include <optional>

namespace servecast::plan {

namespace {

// Sorts behind every latency without making interpolation undefined.
constexpr double never_ms = std::numeric_limits<double>::max() / 4;

template <typename Value>
double percentile_of(const scenario::RunOutcome& outcome, double p, Value value) {
  std::vector<double> values;
  const metrics::Records& records = outcome.log->records();
  values.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].completed())
      values.push_back(never_ms);
    else if (const std::optional<double> v = value(records[i]))
      values.push_back(*v);
  }
  const double at = core::percentile(values, p);
  return at >= never_ms / 1000 ? std::numeric_limits<double>::infinity() : at;
}

}  // namespace

std::vector<TargetValue> against_targets(const scenario::Slo& slo, const scenario::RunOutcome& outcome) {
  SERVECAST_ENSURE(outcome.log != nullptr, "the run has no records");
  const core::Duration overhead = outcome.client_overhead;
  using Value = std::optional<double>;
  std::vector<TargetValue> out;
  if (slo.ttft_ms)
    out.push_back({"ttft", *slo.ttft_ms, percentile_of(outcome, slo.percentile, [&](const metrics::Record& r) -> Value {
                     return metrics::ttft_ms(r, overhead);
                   })});
  if (slo.tpot_ms)
    out.push_back({"tpot", *slo.tpot_ms, percentile_of(outcome, slo.percentile, [](const metrics::Record& r) -> Value {
                     return r.output_tokens > 1 ? Value(metrics::tpot_ms(r)) : std::nullopt;
                   })});
  if (slo.e2e_ms)
    out.push_back({"e2e", *slo.e2e_ms, percentile_of(outcome, slo.percentile, [&](const metrics::Record& r) -> Value {
                     return metrics::e2e_ms(r, overhead);
                   })});
  return out;
}

}  // namespace servecast::plan
