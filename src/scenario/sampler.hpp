// Samples the cluster's state at equal intervals for the timeline. The interval starts small and doubles, with every
// other sample dropped, whenever the samples get many, so that any run length gives a few hundred to a few thousand.
#pragma once

#include "cluster/cluster.hpp"
#include "core/simulation.hpp"
#include "metrics/timeline.hpp"

#include <string>
#include <vector>

namespace servecast::scenario {

class Sampler {
 public:
  static constexpr std::size_t most_samples = 2000;

  // Every reference must outlive the simulation.
  Sampler(core::Simulation& simulation, cluster::Cluster& cluster) : simulation_(simulation), cluster_(cluster) {}
  void start();
  metrics::Timeline timeline(std::string pool, bool tiers) const;  // tiers: as metrics::Timeline

 private:
  struct Sample {
    core::Time at;
    std::int64_t in_flight = 0;
    metrics::PoolSample pool;
  };
  void sample();
  void thin_out();

  core::Simulation& simulation_;
  cluster::Cluster& cluster_;
  core::Duration interval_ = {100'000'000'000};  // 0.1 s
  std::vector<Sample> samples_;
};

}  // namespace servecast::scenario
