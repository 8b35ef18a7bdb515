#include "metrics/targets.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <limits>

namespace servecast::metrics {

namespace {

// Sorts behind every latency without making interpolation undefined.
constexpr double never_ms = std::numeric_limits<double>::max() / 4;

// A latency of a request, or what is known of it: none where it has no such latency or may still meet the target.
using Known = std::optional<double>;

Known known_ttft(const Record& r, double target_ms, const Seen& seen) {
  if (r.rejected()) return never_ms;
  if (r.first_token != core::Time::never()) return ttft_ms(r, seen.client_overhead);
  const double waited_ms = core::to_ms(seen.end - r.arrival + seen.client_overhead);
  return waited_ms > target_ms ? Known(never_ms) : std::nullopt;
}

Known known_e2e(const Record& r, double target_ms, const Seen& seen) {
  if (r.rejected()) return never_ms;
  if (r.completed()) return e2e_ms(r, seen.client_overhead);
  const double waited_ms = core::to_ms(seen.end - r.arrival + seen.client_overhead);
  return waited_ms > target_ms ? Known(never_ms) : std::nullopt;
}

// The tokens that a request in flight has got so far are not recorded, so its TPOT is not known.
Known known_tpot(const Record& r) {
  if (r.rejected()) return never_ms;
  return r.output_tokens > 1 ? Known(tpot_ms(r)) : std::nullopt;
}

template <typename Value>
TargetValue at_percentile(const RequestLog& log, std::string name, double target_ms, double percentile, Value value) {
  std::vector<double> values;
  const Records& records = log.records();
  values.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    if (const Known v = value(records[i])) values.push_back(*v);
  TargetValue out{std::move(name), target_ms, core::percentile(values, percentile),
                  static_cast<std::int64_t>(values.size())};
  if (out.value_ms >= never_ms / 1000) out.value_ms = std::numeric_limits<double>::infinity();
  return out;
}

}  // namespace

Outcome outcome_of(const Record& r, const Targets& targets, const Seen& seen) {
  const auto missed = [](const std::optional<double>& target_ms, const Known& known) {
    return target_ms && known && *known > *target_ms;
  };
  if (missed(targets.ttft_ms, known_ttft(r, targets.ttft_ms.value_or(0), seen)) ||
      missed(targets.tpot_ms, known_tpot(r)) || missed(targets.e2e_ms, known_e2e(r, targets.e2e_ms.value_or(0), seen)))
    return Outcome::Missed;
  if (r.rejected()) return Outcome::Missed;
  return r.completed() ? Outcome::Met : Outcome::Undecided;
}

std::vector<TargetValue> against_targets(const RequestLog& log, const Targets& t, double percentile, const Seen& seen) {
  std::vector<TargetValue> out;
  if (t.ttft_ms)
    out.push_back(at_percentile(log, "ttft", *t.ttft_ms, percentile,
                                [&](const Record& r) { return known_ttft(r, *t.ttft_ms, seen); }));
  if (t.tpot_ms)
    out.push_back(at_percentile(log, "tpot", *t.tpot_ms, percentile, [](const Record& r) { return known_tpot(r); }));
  if (t.e2e_ms)
    out.push_back(at_percentile(log, "e2e", *t.e2e_ms, percentile,
                                [&](const Record& r) { return known_e2e(r, *t.e2e_ms, seen); }));
  return out;
}

}  // namespace servecast::metrics
