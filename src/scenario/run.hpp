// Simulates a resolved scenario from its first request to its last, and measures what happened. Depends on the scenario
// and its seed only: not on threads, wall time, or who watches.
#pragma once

#include "core/error.hpp"
#include "core/time.hpp"
#include "metrics/request_log.hpp"
#include "metrics/result.hpp"
#include "metrics/targets.hpp"
#include "metrics/timeline.hpp"
#include "scenario/build.hpp"
#include "scenario/step_times.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace servecast::scenario {

struct RunProgress {
  std::uint64_t finished = 0;
  std::uint64_t arrived = 0;
  std::optional<std::uint64_t> total;
  core::Time now;
};

struct RunOptions {
  std::function<void(const RunProgress&)> progress;  // now and then; may be empty
  // Either one raised: the run ends early with a partial result. stop is also looked at while requests are made.
  const std::atomic<bool>* stop = nullptr;
  const std::atomic<bool>* give_up = nullptr;
  bool keep_rows = false;  // details for requests.csv
  bool timeline = false;   // samples for timeline.csv
  // Step times to share between runs of one configuration (make_step_times of an equal pool); absent: made here.
  std::shared_ptr<const StepTimes> times;
};

struct RunOutcome {
  metrics::Result result;                    // tool_version is the caller's to fill
  std::unique_ptr<metrics::RequestLog> log;  // null when infeasible
  metrics::Timeline timeline;
  core::Duration client_overhead;             // that latencies contain on top of the log's times
  core::Time end;                             // last simulated instant
  std::vector<metrics::TargetValue> targets;  // the scenario's, at its percentile
  std::uint64_t events = 0;
  bool interrupted = false;
};

// An engine ended the run where the real one aborts: memory that its scheduler could not find. The line names the
// setting that would help, by its place in the user's document.
class EngineAbort : public core::InputError {
 public:
  using core::InputError::InputError;
};

// An infeasible scenario is an outcome, not an error. Throws core::InputError for what only running reveals (rows of a
// trace, schedulers that this version lacks), EngineAbort among them.
RunOutcome run(const Resolved& r, const RunOptions& options);

}  // namespace servecast::scenario
