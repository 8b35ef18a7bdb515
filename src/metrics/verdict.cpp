#include "metrics/verdict.hpp"

#include "metrics/queue_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::metrics {

namespace {

// Thresholds of the rule in the header; assumed, and checked on M/D/1 queues from a load of 0.5 to 1.5.
constexpr double growth_sigmas = 3;
constexpr double climb_sigmas = 2;
constexpr double climb_share = 0.1;      // of all requests
constexpr double half_share = 0.2;       // least part of the growth in either half of the window
constexpr double last_over_first = 2;    // waits at the end against the start, where overloaded
constexpr double slowest_over_base = 5;  // waits of the slowest tenth against no queue, where backlogged

Verdict overloaded(double offered, double served, std::string reason) {
  return {State::Overloaded, std::move(reason), offered / std::max(served, 1.0)};
}

// The growth of N is beyond chance and lasts over the whole window. cut_short: requests were waiting when the run was
// stopped, so that the last waits are only lower bounds and say nothing against it.
bool keeps_growing(const QueueGrowth& g, const Waits& waits, bool cut_short) {
  if (!g.long_enough || g.growth <= growth_sigmas * g.noise) return false;
  if (std::min(g.first_half, g.growth - g.first_half) < half_share * g.growth) return false;
  return cut_short || waits.last_s > last_over_first * waits.first_s;
}

bool backed_up(const QueueGrowth& g, const Waits& waits, double arrived) {
  const bool high = g.climb > climb_sigmas * g.climb_noise || g.climb > climb_share * arrived;
  return high && waits.slowest_s > slowest_over_base * waits.base_s;
}

// Longest stay of a completed request.
core::Duration longest_stay(const Records& records) {
  core::Duration longest;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].completed()) longest = std::max(longest, records[i].finish - records[i].arrival);
  }
  return longest;
}

std::string left_over(const RequestCounts& counts) {
  if (counts.unfinished() == 0) return "all of them finished after the last arrival";
  return fmt::format("{} of {} are unfinished", counts.unfinished(), counts.arrived);
}

// Of a system that keeps up. A window from the first arrival to the last holds one gap less than arrivals.
double load_factor(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts) {
  const double window_s = core::to_seconds(n.window_end - n.begin);
  if (!facts.capacity_requests_per_s || window_s <= 0) return facts.occupancy;
  return static_cast<double>(log.counts().arrived - 1) / window_s / *facts.capacity_requests_per_s;
}

// Requests without a first token when the run was stopped.
std::int64_t still_waiting(const RequestLog& log, const RunFacts& facts) {
  const RequestCounts& counts = log.counts();
  return facts.stopped_early ? counts.arrived - counts.rejected - counts.first_tokens : 0;
}

// Left behind by a run that was stopped: for no lack of time, or because the queue outgrew what was served.
bool left_behind(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts, const QueueGrowth& g,
                 const Waits& waits) {
  const RequestCounts& counts = log.counts();
  const std::int64_t waiting = still_waiting(log, facts);
  if (waiting == 0) return false;
  const bool had_time =
      facts.arrivals_ended && counts.completed > 0 && n.end - n.window_end > longest_stay(log.records());
  return had_time || (g.enough && waiting > counts.first_tokens && waits.last_s > last_over_first * waits.first_s);
}

Verdict judge_backlog(const RequestLog& log, const QueueGrowth& g, double load, const RunFacts& facts) {
  // Bursts too short to show steady growth: offered above the engines' own capacity is overload all the same, where
  // the mean rate of so many arrivals is above it beyond chance.
  const double arrived = static_cast<double>(log.counts().arrived);
  const bool beyond_capacity = facts.capacity_requests_per_s && load * (1 - climb_sigmas / std::sqrt(arrived)) > 1;
  return {beyond_capacity ? State::Overloaded : State::Backlogged,
          fmt::format("requests arrived faster than they were served for a time and queued, up to {:.0f} more at once; "
                      "{}",
                      g.climb, left_over(log.counts())),
          load};
}

// No queue was seen. Could it have been?
Verdict judge_quiet(const RequestLog& log, const QueueGrowth& g, double load, const RunFacts& facts) {
  const RequestCounts& counts = log.counts();
  if (counts.completed == 0)
    return {State::Stable,
            counts.unfinished() > 0
                ? fmt::format("none of {} requests was completed before the run ended", counts.arrived)
                : "every request was rejected",
            load, false};
  const bool beyond = facts.capacity_requests_per_s && load > 1;
  const double growth = beyond ? (1 - 1 / load) * static_cast<double>(counts.arrived) : 0.0;
  if (beyond && (!g.long_enough || growth <= growth_sigmas * g.noise))
    return {State::Stable,
            fmt::format("requests came {:.3g} times as fast as the engines can serve them, but too few for a queue to "
                        "show; simulate more of them",
                        load),
            load, false};
  std::string reason = "requests were served as fast as they arrived";
  if (beyond) reason += ", although their rate is above the estimate of what the engines sustain";
  if (counts.unfinished() > 0) reason += fmt::format("; {} were still being served at the end", counts.unfinished());
  if (!g.long_enough) reason += "; too short a run to see a slow build-up";
  return {State::Stable, std::move(reason), load};
}

// How many requests at this rate outlast the filling of the batches twice, as a trend needs.
std::int64_t enough_requests(const RequestLog& log, const NumberInSystem& n, const QueueGrowth& g) {
  if (g.long_enough) return 0;
  const double window_s = std::max(core::to_seconds(n.window_end - n.begin), 1e-9);
  const double wanted = 2 * g.fill_s * static_cast<double>(log.counts().arrived) / window_s;
  return std::max(min_arrivals, static_cast<std::int64_t>(std::min(std::ceil(wanted), 1e9)));
}

Verdict judge_by_growth(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts, const QueueGrowth& g) {
  const RequestCounts& counts = log.counts();
  const Waits waits = measure_waits(log, n.end);
  const double arrived = static_cast<double>(counts.arrived);
  if (keeps_growing(g, waits, still_waiting(log, facts) > 0)) {
    return overloaded(
        g.arrivals, g.departures,
        fmt::format("the queue grew for as long as requests arrived, by {:.0f}; {}", g.growth, left_over(counts)));
  }
  if (left_behind(log, n, facts, g, waits)) {
    return overloaded(arrived, static_cast<double>(counts.first_tokens + counts.rejected),
                      fmt::format("the run reached its limit before the queue drained; {}", left_over(counts)));
  }
  const double load = load_factor(log, n, facts);
  if (backed_up(g, waits, arrived)) return judge_backlog(log, g, load, facts);
  return judge_quiet(log, g, load, facts);
}

}  // namespace

Verdict judge(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts) {
  if (log.counts().arrived == 0)
    return {State::Stable, "no request arrived, so nothing was simulated", std::nullopt, false};
  switch (facts.traffic) {
    case Traffic::Closed:
      return {State::Stable, "a closed loop waits for its own answers, so its queue cannot grow", facts.occupancy};
    case Traffic::AllAtOnce:
      return {State::Stable, "an offline batch: every request was there from the start", facts.occupancy};
    case Traffic::Open: break;
  }
  const QueueGrowth g = measure_growth(log, n);
  Verdict verdict = judge_by_growth(log, n, facts, g);
  verdict.enough_requests = enough_requests(log, n, g);
  return verdict;
}

Verdict infeasible(std::string reason) { return {State::Infeasible, std::move(reason), std::nullopt}; }

}  // namespace servecast::metrics
