#include "metrics/confidence.hpp"

#include "core/output_analysis.hpp"
#include "core/statistics.hpp"
#include "metrics/latency.hpp"

#include <algorithm>
#include <span>

namespace servecast::metrics {

namespace {

constexpr std::size_t batches = 25;

// Completed requests in order of arrival, from the first one kept.
template <typename Value>
std::optional<core::MeanInterval> interval(const Records& records, std::size_t drop, std::vector<double>& scratch,
                                           Value value) {
  scratch.clear();
  std::size_t seen = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].completed() && seen++ >= drop) value(records[i]);
  }
  return core::batch_means_interval(scratch, batches);
}

double effective_samples(const std::vector<double>& values, const core::MeanInterval& mean) {
  core::Running moments;
  for (const double x : values) moments.add(x);
  const double n = static_cast<double>(values.size());
  const double deviation = mean.half_width / core::student_t95(mean.batches - 1);
  if (deviation <= 0 || moments.sample_variance() <= 0) return n;
  return std::min(n, moments.sample_variance() / (deviation * deviation));
}

}  // namespace

Confidence measure_confidence(const RequestLog& log, core::Duration client_overhead, std::vector<double>& scratch) {
  Confidence c;
  const Records& records = log.records();
  scratch.clear();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].completed()) scratch.push_back(ttft_ms(records[i], client_overhead));
  }
  const core::Truncation warmup = core::mser5(scratch);
  c.warmup_dropped = static_cast<std::int64_t>(warmup.drop);
  c.warmup_conclusive = warmup.conclusive;
  if (const auto ttft = interval(records, warmup.drop, scratch,
                                 [&](const Record& r) { scratch.push_back(ttft_ms(r, client_overhead)); })) {
    c.ttft_ms = ttft->half_width;
    c.lag1_correlation = ttft->lag1_correlation;
    c.effective_samples = effective_samples(scratch, *ttft);
  }
  const auto tpot = interval(records, warmup.drop, scratch, [&](const Record& r) {
    if (r.output_tokens > 1) scratch.push_back(tpot_ms(r));
  });
  if (tpot) c.tpot_ms = tpot->half_width;
  const auto e2e =
      interval(records, warmup.drop, scratch, [&](const Record& r) { scratch.push_back(e2e_ms(r, client_overhead)); });
  if (e2e) c.e2e_ms = e2e->half_width;
  return c;
}

}  // namespace servecast::metrics
