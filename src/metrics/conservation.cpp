#include "metrics/conservation.hpp"

#include "core/error.hpp"

#include <cmath>

namespace servecast::metrics {

void check_requests(const RequestLog& log) {
  std::int64_t completed = 0, rejected = 0, unfinished = 0, prompt = 0, prompt_completed = 0, output = 0;
  const Records& records = log.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    prompt += record.prompt_tokens;
    if (record.completed()) {
      ++completed;
      prompt_completed += record.prompt_tokens;
      output += record.output_tokens;
    } else {
      ++(record.rejected() ? rejected : unfinished);
    }
  }
  const RequestCounts& sums = log.counts();
  SERVECAST_ENSURE(completed == sums.completed && rejected == sums.rejected && unfinished == sums.unfinished() &&
                       sums.arrived == static_cast<std::int64_t>(records.size()),
                   "requests lost: {} arrived, {} completed, {} rejected, {} unfinished", sums.arrived, completed,
                   rejected, unfinished);
  SERVECAST_ENSURE(
      prompt == sums.prompt_tokens && prompt_completed == sums.prompt_tokens_completed && output == sums.output_tokens,
      "tokens lost: records hold {} prompt ({} completed) and {} output, sums {} ({}) and {}", prompt, prompt_completed,
      output, sums.prompt_tokens, sums.prompt_tokens_completed, sums.output_tokens);
}

void check_littles_law(const RequestLog& log, const NumberInSystem& n) {
  long double sojourn_ps = 0;
  const Records& records = log.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const core::Time left = records[i].unfinished() ? n.end : records[i].finish;
    sojourn_ps += static_cast<long double>((left - records[i].arrival).ps);
  }
  const double by_requests = static_cast<double>(sojourn_ps / static_cast<long double>(core::ps_per_second));
  const double tolerance = 1e-9 * (by_requests + 1e-3);  // rounding of the two sums, far above 64-bit mantissas
  SERVECAST_ENSURE(std::abs(by_requests - n.request_seconds) <= tolerance,
                   "Little's law broken: {} request-seconds in the system by time, {} by requests", n.request_seconds,
                   by_requests);
  SERVECAST_ENSURE(n.tail.at_end == log.counts().unfinished(), "{} requests in the system at the end, {} unfinished",
                   n.tail.at_end, log.counts().unfinished());
}

void check_tokens(const RequestLog& log, const EngineTokens& engine) {
  const RequestCounts& sums = log.counts();
  // A prefill makes one token: the first one, or the next one when a preempted request is recomputed.
  const std::int64_t made = engine.decode + engine.sequences * sums.first_tokens + sums.preemptions;
  SERVECAST_ENSURE(engine.sequences * sums.output_tokens <= made,
                   "{} output tokens delivered in {} sequences each, at most {} computed", sums.output_tokens,
                   engine.sequences, made);
  const std::int64_t due =
      engine.prompts * sums.prompt_tokens_completed - sums.prefix_hit_tokens - sums.prefix_hit_tokens_preempted;
  SERVECAST_ENSURE(engine.prefill >= due, "{} prompt tokens prefilled, {} due", engine.prefill, due);
}

}  // namespace servecast::metrics
