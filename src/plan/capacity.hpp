// How much traffic a deployment carries within its targets, and how few replicas carry a given traffic. Every point
// runs the same random numbers: raising the rate squeezes one arrival stream in time and changes nothing else. A point
// is good when every target is met at its percentile and the queue does not grow. The interval is that of the search,
// for one stream; other seeds move it.
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
  metrics::State state = metrics::State::Stable;
  std::vector<metrics::TargetValue> targets;
  std::string limiting;  // resource
  double load_factor = 0;
  double duration_s = 0;    // simulated
  std::string why() const;  // why it is not good; empty when it is
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
  std::string unit;
  double scenario_rate = 0;
  double percentile = 99;
  std::optional<Point> at, below;  // with that many replicas, and with one fewer
  std::vector<Point> points;
  std::string problem;  // why none is enough
  bool interrupted = false;
};

// Names what such a question lacks: targets, or traffic with a rate. Throws core::InputError.
void check_answerable(const scenario::Resolved& r, const std::string& place);

// Require: check_answerable passed and the deployment fits into memory.
Capacity find_capacity(const scenario::Resolved& r, const CapacityOptions& options);
Sizing find_replicas(const scenario::Resolved& r, const CapacityOptions& options);

std::string capacity_text(const Capacity& c);
std::string capacity_json(const Capacity& c);
std::string sizing_text(const Sizing& s);
std::string sizing_json(const Sizing& s);

}  // namespace servecast::plan
