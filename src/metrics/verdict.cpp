#include "metrics/verdict.hpp"

#include "metrics/queue_growth.hpp"

#include <fmt/format.h>

#include <algorithm>

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

// Of a system that keeps up.
double load_factor(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts) {
  const double window_s = core::to_seconds(n.window_end - n.begin);
  if (!facts.capacity_requests_per_s || window_s <= 0) return facts.occupancy;
  return static_cast<double>(log.counts().arrived) / window_s / *facts.capacity_requests_per_s;
}

Verdict judge_open(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts) {
  const RequestCounts& counts = log.counts();
  const Waits waits = measure_waits(log, n.end);
  const QueueGrowth g = measure_growth(log, n);
  const double arrived = static_cast<double>(counts.arrived);
  const double gone = static_cast<double>(counts.completed + counts.rejected);
  if (keeps_growing(g, waits, facts.stopped_early && counts.unfinished() > 0)) {
    return overloaded(
        g.arrivals, g.departures,
        fmt::format("the queue grew for as long as requests arrived, by {:.0f}; {}", g.growth, left_over(counts)));
  }
  const bool had_time = facts.arrivals_ended && n.end - n.window_end > longest_stay(log.records());
  const bool piled_up = counts.unfinished() > counts.completed && waits.last_s > last_over_first * waits.first_s;
  if (facts.stopped_early && counts.unfinished() > 0 && (had_time || piled_up)) {
    return overloaded(arrived, gone,
                      fmt::format("the run reached its limit before the queue drained; {}", left_over(counts)));
  }
  if (backed_up(g, waits, arrived)) {
    const double load = load_factor(log, n, facts);
    // Bursts too short to show steady growth: offered above the engines' own capacity is overload all the same.
    const bool beyond_capacity = facts.capacity_requests_per_s && load > 1;
    return {beyond_capacity ? State::Overloaded : State::Backlogged,
            fmt::format(
                "requests arrived faster than they were served for a time and queued, up to {:.0f} more at once; {}",
                g.climb, left_over(counts)),
            load};
  }
  std::string reason = "requests were served as fast as they arrived";
  if (counts.unfinished() > 0) reason += fmt::format("; {} were still being served at the end", counts.unfinished());
  if (!g.long_enough) reason += "; too short a run to see a slow build-up";
  return {State::Stable, std::move(reason), load_factor(log, n, facts)};
}

}  // namespace

Verdict judge(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts) {
  if (log.counts().arrived == 0) return {State::Stable, "no request arrived", 0.0};
  switch (facts.traffic) {
    case Traffic::Closed:
      return {State::Stable, "a closed loop waits for its own answers, so its queue cannot grow", facts.occupancy};
    case Traffic::AllAtOnce:
      return {State::Stable, "an offline batch: every request was there from the start", facts.occupancy};
    case Traffic::Open: break;
  }
  return judge_open(log, n, facts);
}

Verdict infeasible(std::string reason) { return {State::Infeasible, std::move(reason), std::nullopt}; }

}  // namespace servecast::metrics
