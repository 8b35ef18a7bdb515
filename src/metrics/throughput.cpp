#include "metrics/throughput.hpp"

namespace servecast::metrics {

core::Duration run_duration(const RequestLog& log, core::Time end) {
  if (log.records().size() == 0) return {};
  const core::Time last = log.counts().unfinished() > 0 || log.counts().completed == 0 ? end : log.last_finish();
  return last - log.records()[0].arrival;
}

Throughput measure_throughput(const RequestLog& log, core::Duration duration, std::int64_t gpus, double mean_tpot_ms) {
  Throughput t;
  if (mean_tpot_ms > 0) t.tokens_per_s_per_user = 1e3 / mean_tpot_ms;
  const double seconds = core::to_seconds(duration);
  if (seconds <= 0) return t;
  const RequestCounts& counts = log.counts();
  t.requests_per_s = static_cast<double>(counts.completed) / seconds;
  t.output_tokens_per_s = static_cast<double>(counts.output_tokens) / seconds;
  t.total_tokens_per_s = static_cast<double>(counts.output_tokens + counts.prompt_tokens_completed) / seconds;
  if (gpus > 0) t.output_tokens_per_s_per_gpu = t.output_tokens_per_s / static_cast<double>(gpus);
  return t;
}

Goodput measure_goodput(const RequestLog& log, core::Duration duration, const Targets& targets,
                        core::Duration client_overhead) {
  Goodput g;
  const Records& records = log.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    if (!r.completed()) continue;
    if (targets.ttft_ms && ttft_ms(r, client_overhead) > *targets.ttft_ms) continue;
    if (targets.tpot_ms && tpot_ms(r) > *targets.tpot_ms) continue;
    if (targets.e2e_ms && e2e_ms(r, client_overhead) > *targets.e2e_ms) continue;
    ++g.good;
  }
  const double seconds = core::to_seconds(duration);
  if (seconds > 0) g.requests_per_s = static_cast<double>(g.good) / seconds;
  if (records.size() > 0) g.slo_attainment = static_cast<double>(g.good) / static_cast<double>(records.size());
  return g;
}

}  // namespace servecast::metrics
