// The verdict of a run: does the system keep up with its traffic, and by what margin? Decided from the records alone,
// by a statistical rule stated at judge(). It does not look at targets; see Goodput.
#pragma once

#include "metrics/number_in_system.hpp"
#include "metrics/request_log.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace servecast::metrics {

enum class State : std::uint8_t { Stable, Backlogged, Overloaded, Infeasible };
inline constexpr std::string_view state_names[] = {"stable", "backlogged", "overloaded", "infeasible"};
constexpr std::span<const std::string_view> names_of(State) { return state_names; }

// How requests come: Open whatever the system does (processes, traces), Closed as a reaction to completions, or all at
// once (offline batches).
enum class Traffic : std::uint8_t { Open, Closed, AllAtOnce };

struct Verdict {
  State state = State::Stable;
  std::string reason;
  std::optional<double> load_factor;  // none where infeasible
  bool conclusive = true;             // false: too short a run to tell whether a queue would grow
  std::int64_t enough_requests = 0;   // about how many would reach a steady state at this rate; 0: there were enough
};

struct RunFacts {
  Traffic traffic = Traffic::Open;
  bool stopped_early = false;  // by a limit or an interrupt, rather than because nothing was left to do
  bool arrivals_ended = true;  // the source had no more requests
  double occupancy = 0;        // Occupancy::largest
  // What the saturated engines would sustain by their cost model, if the caller has worked it out.
  std::optional<double> capacity_requests_per_s = std::nullopt;
};

// N(t) is the number of requests in the system over the arrival window, G its growth after the first requests had time
// to fill the batches, A and C the arrivals and departures meanwhile. A system at exactly its capacity lets N wander
// like a random walk of variance A + C (Poisson arrivals, departures no more regular), or more where traffic is bursty
// (variance of N's increments, measured). So
//   overloaded: G exceeds three such standard deviations, both halves of the window carry a share of it, and requests
//               wait longer at the end than at the start, or still wait when the run is stopped; or the run was stopped
//               while requests waited for their first token although there was time for it after the last arrival, or
//               while more waited for it than had got it, behind growing waits;
//   backlogged: not overloaded, but N climbed by more than two standard deviations (or a tenth of all requests) at some
//               time and the slowest tenth of the arrivals waited five times the unloaded TTFT: a burst, later drained
//               (overloaded if its mean rate exceeds the capacity that the caller knows);
//   stable:     otherwise. Inconclusive where nothing completed, or where requests came faster than the capacity that
//               the caller knows, but too few for a queue to stand out from chance. Closed loops and batches that
//               arrive all at once limit themselves and are always stable.
//
// Load factor. Overloaded: A / C, the traffic offered per unit of traffic served. Otherwise, for open traffic whose
// capacity the caller knows: mean arrival rate / capacity. Without it: the mean use of the scarcest scheduling
// resource, which is the utilisation of a single server and reaches 1 where a queue starts to grow, but is a lower
// bound of the load between, because larger batches serve more.
Verdict judge(const RequestLog& log, const NumberInSystem& n, const RunFacts& facts);

// Nothing could run; decided by the caller before any simulation.
Verdict infeasible(std::string reason);

}  // namespace servecast::metrics
