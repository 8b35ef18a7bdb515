#include "plan/capacity.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "metrics/queue_growth.hpp"
#include "scenario/run.hpp"
#include "workload/lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace servecast::plan {

namespace {

// Beyond this multiple of what Little's law allows for requests that meet their targets, a queue does not recover
// within its targets (assumed: bursts that do are smaller).
constexpr double hopeless = 4;
constexpr std::int32_t most_replicas = 4096;
constexpr double longest_span_s = core::longest_run_s / 2;  // of simulated arrivals: far inside the longest run

// Requests that must lie beyond a percentile for it to be more than a guess, and the percentile from which on more
// would not be asked for (assumed).
constexpr double samples_beyond = 5;
constexpr double most_percentile = 99.9;

// Requests that a run of drawn traffic grows to, at most, before "too few to tell" is the answer (assumed: seconds).
constexpr std::int64_t most_requests = 1'000'000;

// Load factor beyond which a run that met its targets was only too short for the queue to show (assumed: the estimate
// of what engines carry is good to some per cent).
constexpr double most_load = 1.02;

struct Interrupted {};

void check_enough(std::int64_t requests, double percentile, const std::string& place, core::Problems& problems) {
  const std::int64_t least = least_requests(percentile);
  if (requests < least)
    problems.add(place, "{} requests say nothing about p{:g} of a rate; at least {} are needed", requests, percentile,
                 least);
}

void require_enough(const Point& p, double percentile) {
  core::Problems problems;
  check_enough(p.requests, percentile, "workload", problems);
  if (!p.saturated && p.aborted.empty()) problems.raise_if_any();
}

std::string unit_of(const workload::WorkloadConfig& w) {
  if (w.trace) return "times the trace";
  return w.sessions ? "sessions/s" : "requests/s";
}

double rate_of(const workload::WorkloadConfig& w) {
  if (w.trace) return w.rate_scale;
  return workload::mean_rate(w.sessions ? w.sessions->arrivals : *w.arrivals);
}

// Longest stay that meets the targets on average, in seconds; none where the targets do not bound it.
std::optional<double> allowed_stay_s(const scenario::Scenario& s) {
  if (s.slo.e2e_ms) return *s.slo.e2e_ms * 1e-3;
  if (!s.slo.ttft_ms || !s.slo.tpot_ms || !s.workload.output_tokens) return std::nullopt;
  return (*s.slo.ttft_ms + *s.slo.tpot_ms * workload::Lengths(*s.workload.output_tokens).mean()) * 1e-3;
}

// Requests in the system above which the run is given up; none where arrivals have no known rate.
std::optional<double> most_in_system(const scenario::Resolved& r) {
  const scenario::Scenario& s = r.scenario;
  const auto stay = allowed_stay_s(s);
  if (!stay || !s.workload.arrivals) return std::nullopt;
  const double seats = static_cast<double>(*s.pools[0].engine.max_num_seqs) * s.pools[0].replicas;
  return hopeless * (rate_of(s.workload) * *stay + seats);
}

// Seconds over which requests arrive at the scenario's own rate; ran_s: what a run at that rate took.
double span_s(const workload::WorkloadConfig& w, double ran_s) {
  if (w.requests && w.arrivals) return static_cast<double>(*w.requests) / rate_of(w);
  return std::max(ran_s, w.duration_s.value_or(0));
}

// Simulates points of one deployment; step times are made once.
class Prober {
 public:
  Prober(const scenario::Resolved& r, const CapacityOptions& options)
      : base_(r),
        options_(options),
        times_(std::make_shared<const scenario::StepTimes>(scenario::make_step_times(r, 0))) {}

  Point at(double factor, std::int32_t replicas) {
    const auto known = std::find_if(points_.begin(), points_.end(),
                                    [&](const Point& p) { return p.factor == factor && p.replicas == replicas; });
    if (known != points_.end()) return *known;
    points_.push_back(simulate(factor, replicas));
    return points_.back();
  }
  const std::vector<Point>& points() const { return points_; }

 private:
  // Traffic that is drawn goes on for as long as it takes to tell; a trace ends where it ends.
  Point simulate(double factor, std::int32_t replicas) const {
    scenario::Resolved r = base_;
    r.scenario.pools[0].replicas = replicas;
    SERVECAST_ENSURE(workload::scale_rate(r.scenario.workload, factor), "the workload has no rate");
    Point p = simulate(r, factor);
    std::optional<std::int64_t>& requests = r.scenario.workload.requests;
    while (p.undecided() && requests && *requests < most_requests) {
      requests = std::min(most_requests, std::max(2 * *requests, p.enough_requests));
      p = simulate(r, factor);
    }
    return p;
  }

  Point simulate(const scenario::Resolved& r, double factor) const {
    std::atomic<bool> give_up{false};
    bool saturated = false;
    scenario::RunOptions options;
    options.times = times_;
    options.stop = options_.stop;
    options.give_up = &give_up;
    const auto limit = most_in_system(r);
    options.progress = [&](const scenario::RunProgress& p) {
      saturated = saturated || (limit && static_cast<double>(p.arrived - p.finished) > *limit);
      if (saturated) give_up = true;
    };
    try {
      const scenario::RunOutcome outcome = scenario::run(r, options);
      if (stopped()) throw Interrupted{};
      return point_of(r, outcome, factor, saturated);
    } catch (const scenario::EngineAbort& abort) {
      return aborted_point(r, factor, abort.lines().front());
    }
  }

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

  // No target is reached by requests that an engine drops.
  static Point aborted_point(const scenario::Resolved& r, double factor, const std::string& why) {
    Point p;
    p.factor = factor;
    p.replicas = r.scenario.pools[0].replicas;
    p.state = metrics::State::Infeasible;
    p.aborted = why;
    const scenario::Slo& slo = r.scenario.slo;
    const auto miss = [&p](const char* name, const std::optional<double>& target_ms) {
      if (target_ms) p.targets.push_back({name, *target_ms, std::numeric_limits<double>::infinity(), 0});
    };
    miss("ttft", slo.ttft_ms), miss("tpot", slo.tpot_ms), miss("e2e", slo.e2e_ms);
    return p;
  }

  static Point point_of(const scenario::Resolved& r, const scenario::RunOutcome& outcome, double factor,
                        bool saturated) {
    Point p;
    p.factor = factor;
    p.replicas = r.scenario.pools[0].replicas;
    p.saturated = saturated;
    p.state = outcome.result.verdict.state;
    p.targets = outcome.targets;
    p.limiting = outcome.result.limiting_resource.value_or("");
    p.load_factor = outcome.result.verdict.load_factor.value_or(0);
    p.requests = outcome.result.requests.arrived;
    p.enough_requests = outcome.result.verdict.enough_requests;
    p.duration_s = outcome.result.duration_s.value_or(0);
    const bool all_met =
        std::all_of(p.targets.begin(), p.targets.end(), [](const metrics::TargetValue& t) { return t.met(); });
    p.good = all_met && !saturated && p.state != metrics::State::Overloaded && p.enough_requests == 0 &&
             p.load_factor <= most_load;
    return p;
  }

  const scenario::Resolved& base_;
  const CapacityOptions& options_;
  std::shared_ptr<const scenario::StepTimes> times_;
  std::vector<Point> points_;
};

// The fewest machines of the scenario's kind that hold so many replicas.
std::int32_t nodes_for(const scenario::Resolved& r, std::int32_t replicas) {
  const std::int32_t tensor = r.scenario.pools[0].parallel.tensor;
  std::int32_t nodes = 1;
  while (scenario::replicas_that_fit(r.node, nodes, tensor) < replicas) ++nodes;
  return nodes;
}

}  // namespace

bool Point::undecided() const {
  const bool all_met =
      std::all_of(targets.begin(), targets.end(), [](const metrics::TargetValue& t) { return t.met(); });
  return !good && all_met && !saturated && aborted.empty() && state != metrics::State::Overloaded;
}

std::string Point::why() const {
  if (good) return "";
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const metrics::TargetValue& t : targets) {
    if (t.met() || !aborted.empty()) continue;
    add(std::isinf(t.value_ms) ? fmt::format("{} is not reached in time by unfinished requests", t.name)
                               : fmt::format("{} {} ms exceeds its target of {} ms", t.name,
                                             core::number_text(t.value_ms), core::number_text(t.target_ms)));
  }
  if (!aborted.empty())
    add("the engine aborts: " + aborted);
  else if (saturated)
    add("the queue outgrew what the targets allow");
  else if (state == metrics::State::Overloaded)
    add("the queue grows for as long as requests come");
  if (text.empty())
    text = fmt::format("{} requests at this rate are too few to tell, about {} would do", core::count_text(requests),
                       core::count_text(enough_requests));
  return text;
}

std::int64_t least_requests(double percentile) {
  const double beyond = 1 - std::min(percentile, most_percentile) / 100;
  return std::max(metrics::min_arrivals, static_cast<std::int64_t>(std::ceil(samples_beyond / beyond - 1e-6)));
}

void check_answerable(const scenario::Resolved& r, const std::string& place) {
  core::Problems problems;
  const scenario::Slo& slo = r.scenario.slo;
  const workload::WorkloadConfig& w = r.scenario.workload;
  if (!slo.ttft_ms && !slo.tpot_ms && !slo.e2e_ms)
    problems.add(place + ":/slo",
                 "no target is stated; give ttft_ms, tpot_ms or e2e_ms, as in --set /slo/ttft_ms=2000");
  if (w.closed_loop)
    problems.add(place + ":/workload/closed_loop",
                 "a closed loop has no arrival rate to raise: its clients wait for answers; use arrivals");
  workload::WorkloadConfig copy = w;
  if (!w.closed_loop && !workload::scale_rate(copy, 1.0))
    problems.add(place + ":/workload/arrivals",
                 "requests that all come at once have no arrival rate to raise; use poisson");
  if (w.requests) check_enough(*w.requests, slo.percentile, place + ":/workload/requests", problems);
  problems.raise_if_any();
}

Capacity find_capacity(const scenario::Resolved& r, const CapacityOptions& options) {
  Capacity out;
  out.unit = unit_of(r.scenario.workload);
  out.scenario_rate = rate_of(r.scenario.workload);
  out.percentile = r.scenario.slo.percentile;
  out.gpus = r.gpus_used();
  const std::int32_t replicas = r.scenario.pools[0].replicas;
  Prober prober(r, options);
  try {
    out.at_scenario = prober.at(1, replicas);
    require_enough(*out.at_scenario, out.percentile);
    SearchOptions how{.tolerance = options.tolerance};
    const double room =
        std::log2(longest_span_s / std::max(1e-3, span_s(r.scenario.workload, out.at_scenario->duration_s)));
    how.most_doublings = static_cast<int>(std::clamp(std::log2(workload::rate_room(r.scenario.workload)), 0.0, 24.0));
    how.most_halvings = static_cast<int>(std::clamp(room, 1.0, 24.0));
    out.factor = search(1, how, [&](double factor) { return prober.at(factor, replicas).good; });
    if (out.factor.low > 0) out.at_low = prober.at(out.factor.low, replicas);
    if (!std::isinf(out.factor.high)) out.at_high = prober.at(out.factor.high, replicas);
  } catch (const Interrupted&) {
    out.interrupted = true;
  }
  out.points = prober.points();
  return out;
}

Sizing find_replicas(const scenario::Resolved& r, const CapacityOptions& options) {
  Sizing out;
  out.unit = unit_of(r.scenario.workload);
  out.scenario_rate = rate_of(r.scenario.workload);
  out.percentile = r.scenario.slo.percentile;
  out.gpus_per_replica = r.scenario.pools[0].parallel.gpus();
  out.nodes_stated = r.scenario.cluster.nodes;
  out.node = r.node.name;
  Prober prober(r, options);
  try {
    // A rate at which requests hardly ever meet, as far as the clock allows.
    const Point first = prober.at(1, 1);
    require_enough(first, out.percentile);
    const double span = span_s(r.scenario.workload, first.duration_s);
    const Point idle = prober.at(std::clamp(span / longest_span_s, 1e-6, 0.5), 1);
    if (idle.good) {
      out.replicas = fewest(most_replicas, [&](std::int32_t n) { return prober.at(1, n).good; });
      if (!out.replicas)
        out.problem = fmt::format("even {} cannot: {}", core::counted(most_replicas, "replica"),
                                  prober.at(1, most_replicas).why());
    } else {
      out.problem = "no number of replicas is enough: even without load " + idle.why();
    }
    if (out.replicas) out.at = prober.at(1, *out.replicas);
    if (out.replicas) out.nodes = nodes_for(r, *out.replicas);
    if (out.replicas && *out.replicas > 1) out.below = prober.at(1, *out.replicas - 1);
  } catch (const Interrupted&) {
    out.interrupted = true;
  }
  out.points = prober.points();
  return out;
}

}  // namespace servecast::plan
