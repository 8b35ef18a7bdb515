#include "metrics/latency.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <array>

namespace servecast::metrics {

namespace {

constexpr std::array<double, 4> ranks = {50, 90, 95, 99};

template <typename Value>
Distribution over_completed(const Records& records, std::vector<double>& scratch, Value value) {
  scratch.clear();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].completed()) value(records[i], scratch);
  }
  return distribution_of(scratch);
}

Distribution of_gaps(const core::LogSketch& gaps) {
  constexpr double ms = 1e-9;  // per picosecond
  if (gaps.count() == 0) return {};
  return {static_cast<std::int64_t>(gaps.count()),
          gaps.mean() * ms,
          gaps.quantile(0.50) * ms,
          gaps.quantile(0.90) * ms,
          gaps.quantile(0.95) * ms,
          gaps.quantile(0.99) * ms,
          static_cast<double>(gaps.max()) * ms};
}

}  // namespace

Distribution distribution_of(std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double x : values) sum += x;
  Distribution d;
  d.count = static_cast<std::int64_t>(values.size());
  d.mean = sum / static_cast<double>(values.size());
  d.max = *std::max_element(values.begin(), values.end());
  const std::vector<double> at = core::percentiles(std::span<double>(values), ranks);
  d.p50 = at[0];
  d.p90 = at[1];
  d.p95 = at[2];
  d.p99 = at[3];
  return d;
}

double ttft_ms(const Record& record, core::Duration client_overhead) {
  return core::to_ms(record.first_token - record.arrival + client_overhead);
}

double e2e_ms(const Record& record, core::Duration client_overhead) {
  return core::to_ms(record.finish - record.arrival + client_overhead);
}

double tpot_ms(const Record& record) {
  if (record.output_tokens <= 1) return 0;
  return core::to_ms(record.finish - record.first_token) / static_cast<double>(record.output_tokens - 1);
}

Latency measure_latency(const RequestLog& log, core::Duration client_overhead, std::vector<double>& scratch) {
  const Records& records = log.records();
  scratch.reserve(static_cast<std::size_t>(log.counts().completed));
  advise_huge_pages(scratch.data(), scratch.capacity() * sizeof(double));
  Latency latency;
  latency.ttft_ms = over_completed(
      records, scratch, [&](const Record& r, std::vector<double>& out) { out.push_back(ttft_ms(r, client_overhead)); });
  latency.tpot_ms = over_completed(records, scratch, [](const Record& r, std::vector<double>& out) {
    if (r.output_tokens > 1) out.push_back(tpot_ms(r));
  });
  latency.e2e_ms = over_completed(
      records, scratch, [&](const Record& r, std::vector<double>& out) { out.push_back(e2e_ms(r, client_overhead)); });
  latency.itl_ms = of_gaps(log.token_gaps());
  return latency;
}

}  // namespace servecast::metrics
