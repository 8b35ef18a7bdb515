#include "fidelity/predict.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "scenario/run.hpp"

#include <algorithm>

namespace servecast::fidelity {

namespace {

// The configuration alone: what is left when the traffic and the names are taken away.
std::string configuration(const scenario::Resolved& r) {
  scenario::Resolved bare = r;
  bare.scenario.name.clear();
  bare.scenario.seed = 1;
  bare.scenario.workload = {};
  return scenario::resolved_json(bare);
}

// "K01:/pools/0/parallel/expert: expert 4 is not modelled yet; use 1" -> "expert parallelism is not modelled yet".
std::string reason_of(const std::string& line) {
  for (const char* kind : {"pipeline", "data", "expert"})
    if (line.find(std::string("/parallel/") + kind) != std::string::npos)
      return std::string(kind) + " parallelism is not modelled yet";
  if (line.find("/parallel/tensor") != std::string::npos) return "the model cannot be split that way";
  if (const std::size_t at = line.find("the scheduler "); at != std::string::npos)
    return line.substr(at, line.find(" is not", at) - at) + " is not in this version";
  const std::size_t message = line.find(": ");
  return message == std::string::npos ? line : line.substr(message + 2);
}

void refuse(Case& c, const core::InputError& error) {
  c.refuse(reason_of(error.lines().front()), error.lines().front());
}

double value_of(const std::string& metric, const Case& c, const metrics::Result& result) {
  const double copies = c.copies;
  if (metric == "output_throughput") return result.throughput->output_tokens_per_s * copies;
  if (metric == "output_throughput_per_gpu")
    return result.throughput->output_tokens_per_s * copies / static_cast<double>(c.gpus);
  if (metric == "request_throughput") return result.throughput->requests_per_s * copies;
  SERVECAST_ENSURE(metric == "ttft_ms" || metric == "tpot_ms", "unknown metric {}", metric);
  // A client that gets its tokens k at a time sees the first when k are there, and one gap less per k.
  const auto k = static_cast<double>(c.options.stream_interval);
  const double tpot = result.latency->tpot_ms.mean;
  const double tokens = static_cast<double>(result.requests.output_tokens) /
                        static_cast<double>(std::max<std::int64_t>(1, result.requests.completed));
  if (metric == "ttft_ms") return result.latency->ttft_ms.mean + (k - 1) * tpot;
  return tokens > k ? tpot * (tokens - k) / (tokens - 1) : tpot;
}

void predict_fit(Case& c) {
  const scenario::FitReport report = scenario::fit(*c.fit);
  for (Measure& m : c.measures) {
    if (m.metric == "kv_blocks") m.predicted = static_cast<double>(report.capacity.blocks);
    if (m.metric == "kv_tokens") m.predicted = static_cast<double>(report.kv_tokens);
    if (m.metric == "kv_gib") m.predicted = report.capacity.kv_bytes / core::GiB;
  }
}

void predict_run(Case& c, StepTimesCache& cache) {
  const scenario::Resolved r = scenario::resolve(*c.scenario, c.id);
  const scenario::Fits fits = scenario::fit_all(r);
  if (!fits.problem.empty()) {
    c.refuse("does not fit into memory", fits.problem);
    return;
  }
  scenario::RunOptions options;
  options.times = cache.get(r);
  const scenario::RunOutcome outcome = scenario::run(r, options);
  const metrics::Result& result = outcome.result;
  if (result.requests.completed == 0) {
    c.refuse("no request completes");
    return;
  }
  for (Measure& m : c.measures) m.predicted = value_of(m.metric, c, result);
  if (result.time)
    c.breakdown = {result.time->compute, result.time->memory, result.time->network,
                   result.time->host,    result.time->idle,   ""};
  c.breakdown.limiting = result.limiting_resource.value_or("");
}

}  // namespace

std::shared_ptr<const scenario::StepTimes> StepTimesCache::get(const scenario::Resolved& r) {
  const std::string key = configuration(r);
  std::promise<std::shared_ptr<const scenario::StepTimes>> promise;
  std::shared_future<std::shared_ptr<const scenario::StepTimes>> future;
  bool mine = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = times_.find(key);
    mine = found == times_.end();
    future = mine ? promise.get_future().share() : found->second;
    if (mine) times_.emplace(key, future);
  }
  if (mine) {
    try {
      promise.set_value(std::make_shared<const scenario::StepTimes>(scenario::make_step_times(r, 0)));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return future.get();
}

void predict(Case& c, StepTimesCache& cache) {
  SERVECAST_ENSURE(c.fate == Fate::Predicted, "row {} is not to be predicted", c.id);
  try {
    if (c.fit)
      predict_fit(c);
    else
      predict_run(c, cache);
  } catch (const core::InputError& error) {
    refuse(c, error);
  }
}

}  // namespace servecast::fidelity
