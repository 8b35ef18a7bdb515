#include "scenario/run.hpp"

#include "cluster/cluster.hpp"
#include "core/simulation.hpp"
#include "core/units.hpp"
#include "engine/constant_time.hpp"
#include "engine/no_room.hpp"
#include "scenario/catalog.hpp"
#include "scenario/collect.hpp"
#include "scenario/group_setup.hpp"
#include "scenario/layer_rules.hpp"
#include "scenario/offload_setup.hpp"
#include "scenario/sampler.hpp"
#include "scenario/step_times.hpp"
#include "workload/make_source.hpp"
#include "workload/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace servecast::scenario {

namespace {

// Events between two looks at the stop flag and two reports of progress: about a millisecond of wall time.
constexpr std::uint64_t look_every = 4096;

void check_runnable(const Resolved& r, const FitReport& fit, const workload::Source& source) {
  core::Problems problems;
  check_groups(r, {&fit, 1}, problems);
  check_offload(r, fit, problems);
  for (const PoolSetup& pool : r.pools)
    if (pool.draft)
      problems.add(pool.place + "/draft_model",
                   "speculative decoding is not in this version of servecast; leave it out, or ask fit for its memory");
  if (!r.scenario.limits.drain && source.reacts())
    problems.add(
        "limits/drain",
        "false needs arrivals that do not wait for answers; use max_simulated_s for closed loops and sessions");
  problems.raise_if_any();
}

// Whether prompts may begin alike.
bool shares_content(const workload::WorkloadConfig& w) {
  if (w.sessions || w.shared_prefix) return true;
  return w.trace && workload::Trace(*w.trace, w.format).block_tokens() > 0;
}

// Public repositories that publish traces of a format, for whoever has none yet.
std::string_view published_in(workload::TraceFormat format) {
  switch (format) {
    case workload::TraceFormat::Azure: return " (published in the repository Azure/AzurePublicDataset)";
    case workload::TraceFormat::Mooncake: return " (published in the repository kvcache-ai/Mooncake)";
    case workload::TraceFormat::Burstgpt: return " (published in the repository HPMLL/BurstGPT)";
    case workload::TraceFormat::Bailian:
      return " (published in the repository alibaba-edu/qwen-bailian-usagetraces-anon)";
    default: return "";
  }
}

void check_trace_exists(const Resolved& r) {
  const workload::WorkloadConfig& w = r.scenario.workload;
  std::error_code ignored;
  if (w.trace && !std::filesystem::exists(*w.trace, ignored))
    throw core::Error(
        fmt::format("cannot read {}: No such file or directory; name your copy of the trace{} with "
                    "--set /workload/trace=PATH",
                    *w.trace, published_in(w.format)));
}

core::Time limit_of(const Limits& limits) {
  return limits.max_simulated_s ? core::Time{} + core::seconds(*limits.max_simulated_s) : core::end_of_time();
}

// Where groups of layers do not share the pool, a fixed part of a request's memory, states for instance, is set aside
// for all seats: the engine's blocks hold tokens.
engine::Config config_of(const Resolved& r, const FitReport& fit) {
  engine::Config c = engine_config(r.pools[0].stack.scheduler, fit.settings, fit.engine_blocks);
  c.block_size = fit.kv.block_size;
  c.kinds = fit.kv.kinds;
  c.max_num_seqs = static_cast<std::int32_t>(std::min<std::int64_t>(c.max_num_seqs, fit.seats));
  return c;
}

std::string seats_warning(const Resolved& r, const FitReport& fit) {
  if (!fit.kv.kinds.empty() || fit.kv.bytes_per_request <= 0) return "";
  if (fit.kv.fixed_blocks == 0 && fit.seats >= *fit.settings.max_num_seqs) return "";
  return fmt::format(
      "{}: memory that a request holds whatever its length ({}) is set aside for {}, so no more run at once",
      r.model.name, core::bytes_text(fit.kv.bytes_per_request), core::counted(fit.seats, "request"));
}

// One run while it lasts. Members are in order of dependence.
struct Setup {
  Setup(const Resolved& r, const FitReport& fit, const RunOptions& options)
      : config(config_of(r, fit)),
        times(options.times ? options.times : std::make_shared<const StepTimes>(make_step_times(r, 0))),
        source(workload::make_source(r.scenario.workload, r.scenario.seed,
                                     {config.max_model_len, workload::StopFlag(options.stop)}, source_report)),
        router(make_router(r.scenario.router, r.scenario.seed)),
        log(std::make_unique<metrics::RequestLog>(options.keep_rows ? metrics::RequestLog::Rows::Kept
                                                                    : metrics::RequestLog::Rows::None)),
        cluster(simulation, *source, *router, *log, *log),
        sampler(simulation, cluster) {
    check_runnable(r, fit, *source);
    set_up_groups(r, fit, config);
    set_up_offload(r, fit, config);
    const std::int32_t samples = r.scenario.workload.samples.value_or(1);
    if (samples > 1)
      source_report.warnings.push_back(
          fmt::format("output tokens, their rates and their cost count one of the {} of each request",
                      core::counted(samples, "sequence")));
    const bool shared = shares_content(r.scenario.workload);
    for (std::int32_t i = 0; i < r.scenario.pools[0].replicas; ++i)
      cluster.add_replica(
          [&](engine::Observer& observer) { return engine::make_replica(config, *times->cost, observer, shared); });
    cluster.start(limit_of(r.scenario.limits));
    if (options.timeline) sampler.start();
  }

  engine::Config config;
  std::shared_ptr<const StepTimes> times;
  workload::SourceReport source_report;
  std::unique_ptr<workload::Source> source;
  std::unique_ptr<cluster::Router> router;
  std::unique_ptr<metrics::RequestLog> log;
  core::Simulation simulation;
  cluster::Cluster cluster;
  Sampler sampler;
};

RunProgress progress_of(const Setup& setup) {
  return {setup.cluster.finished(), static_cast<std::uint64_t>(setup.log->counts().arrived), setup.source->total(),
          setup.simulation.now()};
}

// Why the events ended.
enum class Ending { Drained, TimeLimit, LastArrival, Interrupted };

bool raised(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(std::memory_order_relaxed); }

Ending simulate_events(Setup& setup, const Limits& limits, const RunOptions& options) {
  const core::Time last = limit_of(limits);
  core::Simulation& simulation = setup.simulation;
  for (std::uint64_t n = 0; !simulation.empty(); ++n) {
    if (simulation.next_time() > last) return Ending::TimeLimit;
    if (!limits.drain && setup.source->next_arrival() == core::Time::never()) return Ending::LastArrival;
    simulation.step();
    if (n % look_every != 0) continue;
    if (raised(options.stop) || raised(options.give_up)) return Ending::Interrupted;
    if (options.progress) options.progress(progress_of(setup));
  }
  // A raised flag ends the source, too.
  if (raised(options.stop)) return Ending::Interrupted;
  setup.cluster.check_liveness();
  return Ending::Drained;
}

Ending simulate(Setup& setup, const Resolved& r, const RunOptions& options) {
  try {
    return simulate_events(setup, r.scenario.limits, options);
  } catch (const engine::NoRoom& no) {
    throw EngineAbort(fmt::format("{}/engine/{}", r.pools[0].place, no.setting()), no.message());
  }
}

// Last simulated instant. A run that is cut short ends with the steps in progress.
core::Time end_of(Setup& setup, const Limits& limits, Ending ending) {
  if (ending == Ending::Drained) return std::max(setup.log->last_finish(), setup.log->last_arrival());
  return setup.cluster.stop(ending == Ending::TimeLimit ? limit_of(limits) : setup.simulation.now());
}

// What was left out because the run was cut short, for the reader of a result that does not show it.
std::string cut_text(const Setup& setup, const Limits& limits, Ending ending) {
  if (ending == Ending::Drained || ending == Ending::Interrupted) return "";
  const metrics::RequestCounts& n = setup.log->counts();
  std::string text;
  if (ending == Ending::LastArrival)
    text = "limits/drain is false, so the run ended with the last arrival";
  else if (limits.max_simulated_s)
    text = fmt::format("limits/max_simulated_s {:g} cut the run", *limits.max_simulated_s);
  else
    text = fmt::format("the run was cut at {:.0f} s, the longest there is", core::longest_run_s);
  if (n.unfinished() > 0)
    text += fmt::format(
        "; {} requests were in flight: no latency holds them, and no target judges those that had "
        "not yet missed it",
        core::count_text(n.unfinished()));
  const std::uint64_t total = setup.source->total().value_or(0);
  const auto arrived = static_cast<std::uint64_t>(n.arrived);
  if (total > arrived)
    text += fmt::format("; {} more had not arrived", core::count_text(static_cast<std::int64_t>(total - arrived)));
  return text;
}

}  // namespace

RunOutcome run(const Resolved& r, const RunOptions& options) {
  RunOutcome out;
  const Fits fits = fit_all(r);
  if (!fits.problem.empty()) {
    out.result = infeasible(r, fits);
    return out;
  }
  check_trace_exists(r);
  Setup setup(r, fits.pools[0], options);
  const Ending ending = simulate(setup, r, options);
  out.end = end_of(setup, r.scenario.limits, ending);
  const bool unfinished = setup.log->counts().unfinished() > 0;
  out.interrupted = ending == Ending::Interrupted;
  out.client_overhead = setup.times->client_overhead;
  out.events = setup.simulation.events();
  const bool arrivals_ended = setup.source->next_arrival() == core::Time::never();
  setup.source_report.warnings.insert(setup.source_report.warnings.begin(), setup.times->warnings.begin(),
                                      setup.times->warnings.end());
  for (const std::string& warning :
       {seats_warning(r, fits.pools[0]), pools_left_out(r.pools[0].stack, r.model, fits.pools[0].settings)})
    if (!warning.empty()) setup.source_report.warnings.push_back(warning);
  out.result =
      collect({r, fits.pools[0], *setup.log, setup.cluster, setup.config, *setup.times->cost, setup.times->model.get(),
               setup.source_report, out.end, out.client_overhead, unfinished, arrivals_ended && !out.interrupted,
               out.interrupted, cut_text(setup, r.scenario.limits, ending)});
  out.result.precision = setup.times->precision;
  out.targets = metrics::against_targets(*setup.log, out.result.targets, r.scenario.slo.percentile,
                                         {out.end, out.client_overhead});
  if (options.timeline)
    out.timeline = setup.sampler.timeline(r.scenario.pools[0].name, setup.config.offload_blocks > 0);
  out.log = std::move(setup.log);
  return out;
}

}  // namespace servecast::scenario
