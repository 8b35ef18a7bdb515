// Puts the measures of a finished run together into the result: what every metric needs, gathered in one place.
#pragma once

#include "cluster/cluster.hpp"
#include "cost/roofline.hpp"
#include "engine/config.hpp"
#include "metrics/request_log.hpp"
#include "metrics/result.hpp"
#include "scenario/build.hpp"
#include "workload/source_report.hpp"

#include <string>

namespace servecast::scenario {

struct Finished {
  const Resolved& resolved;
  const FitReport& fit;
  const metrics::RequestLog& log;
  const cluster::Cluster& cluster;
  const engine::Config& config;
  const cost::StepCost& cost;
  const cost::StepModel* model;  // null: step times are fixed
  const workload::SourceReport& source;
  core::Time end;  // last simulated instant that counts
  core::Duration client_overhead;
  bool stopped_early = false;  // by a limit or an interrupt, with requests in flight
  bool arrivals_ended = true;
  bool interrupted = false;
  std::string cut;  // what a limit cut off; empty: nothing
};

metrics::Result collect(const Finished& f);
// What is known without running.
metrics::Result infeasible(const Resolved& r, const Fits& fits);

}  // namespace servecast::scenario
