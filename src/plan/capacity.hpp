// How much traffic a deployment carries within its targets, and how few replicas carry a given traffic. Every point
// runs the same random numbers: raising the rate squeezes one arrival stream in time and changes nothing else. A point
// is good when every target is met at its percentile, the queue does not grow, and the requests are enough to show it.
// The interval is that of the search, for one stream; other seeds move it.
#pragma once

#include "metrics/targets.hpp"
#include "metrics/verdict.hpp"
#include "plan/search.hpp"
#include "scenario/build.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace servecast::plan {

struct CapacityOptions {
  double tolerance = 0.02;
  const std::atomic<bool>* stop = nullptr;
};

// One simulated point.
struct Point {
  double factor = 1;  // of the scenario's rate
  std::int32_t replicas = 1;
  bool good = false;
  bool saturated = false;  // ended early: more requests in the system than the targets can ever allow
  std::string aborted;     // why the engine would have aborted; empty: it would not
  metrics::State state = metrics::State::Stable;
  std::vector<metrics::TargetValue> targets;
  std::string limiting;  // resource
  double load_factor = 0;
  std::int64_t requests = 0;         // that arrived
  std::int64_t enough_requests = 0;  // about how many would show a steady state; 0: these do
  double duration_s = 0;             // simulated
  std::string why() const;           // why it is not good; empty when it is
  // Neither good nor bad: too few requests to tell.
  bool undecided() const;
};

struct Capacity {
  std::string unit;          // "requests/s", "sessions/s" or "times the trace"
  double scenario_rate = 0;  // in that unit
  double percentile = 99;
  std::int64_t gpus = 0;  // of the whole deployment
  Interval factor;        // of the scenario's rate
  std::optional<Point> at_low, at_high, at_scenario;
  std::vector<Point> points;  // in the order simulated
  bool interrupted = false;
  double low() const { return factor.low * scenario_rate; }
  double high() const { return factor.high * scenario_rate; }
};

struct Sizing {
  std::optional<std::int32_t> replicas;  // none: no number tried is enough
  std::int64_t gpus_per_replica = 1;
  std::int32_t nodes = 1;         // that hold that many replicas
  std::int32_t nodes_stated = 1;  // by the scenario
  std::string node;               // kind
  std::string unit;
  double scenario_rate = 0;
  double percentile = 99;
  std::optional<Point> at, below;  // with that many replicas, and with one fewer
  std::vector<Point> points;
  std::string problem;  // why none is enough
  bool interrupted = false;
};

// Requests behind a percentile that is to be trusted: a few of them must lie beyond it.
std::int64_t least_requests(double percentile);

// Names what such a question lacks: targets, traffic with a rate, requests enough. Throws core::InputError.
void check_answerable(const scenario::Resolved& r, const std::string& place);

// Require: check_answerable passed and the deployment fits into memory. Throw core::InputError where fewer requests
// arrive than the percentile needs (a short trace).
Capacity find_capacity(const scenario::Resolved& r, const CapacityOptions& options);
Sizing find_replicas(const scenario::Resolved& r, const CapacityOptions& options);

std::string capacity_text(const Capacity& c);
std::string capacity_json(const Capacity& c);
std::string sizing_text(const Sizing& s);
std::string sizing_json(const Sizing& s);
// Where nothing could run: the deployment does not fit into memory.
std::string infeasible_json(const std::string& problem);

}  // namespace servecast::plan
