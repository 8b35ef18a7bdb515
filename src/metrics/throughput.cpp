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

Goodput measure_goodput(const RequestLog& log, core::Duration duration, const Targets& targets, const Seen& seen) {
  Goodput g;
  const Records& records = log.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Outcome outcome = outcome_of(records[i], targets, seen);
    g.good += outcome == Outcome::Met ? 1 : 0;
    g.undecided += outcome == Outcome::Undecided ? 1 : 0;
  }
  const double seconds = core::to_seconds(duration);
  if (seconds > 0) g.requests_per_s = static_cast<double>(g.good) / seconds;
  const auto decided = static_cast<std::int64_t>(records.size()) - g.undecided;
  if (decided > 0) g.slo_attainment = static_cast<double>(g.good) / static_cast<double>(decided);
  return g;
}

}  // namespace servecast::metrics
