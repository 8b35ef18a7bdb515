// Replicas behind a router, on the clock: takes requests from the source, starts and commits the replicas' runs, cuts
// them when a request arrives inside, and tells the source of every request that ended. One instant is settled in the
// order of core::Rank: completions, arrivals, decisions.
// It does not know how long a step takes, how requests are made, or what anyone measures.
#pragma once

#include "cluster/router.hpp"
#include "core/simulation.hpp"
#include "core/timer.hpp"
#include "engine/replica.hpp"
#include "workload/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace servecast::cluster {

// What happens to requests outside the replicas.
class ArrivalObserver {
 public:
  virtual ~ArrivalObserver() = default;
  virtual void arrived(const workload::Request& request, std::uint32_t replica) = 0;
};

using MakeReplica = std::function<std::unique_ptr<engine::Replica>(engine::Observer&)>;

class Cluster final : private engine::Observer {
 public:
  // Every reference must outlive the cluster. engine_observer sees what replicas report, observer what arrives.
  Cluster(core::Simulation& simulation, workload::Source& source, Router& router, ArrivalObserver& observer,
          engine::Observer& engine_observer);
  ~Cluster() override;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  void add_replica(const MakeReplica& make);
  // Arms the first arrival. No run reaches further than to the first step end at or after `limit`. Requires: at least
  // one replica, limit <= core::end_of_time().
  void start(core::Time limit = core::end_of_time());
  // Ends the runs in progress at their first step end at or after t and commits them; nothing new begins. Returns when
  // the last of them ends, t where none was in progress. For the end of a simulation that is cut short.
  core::Time stop(core::Time t);

  std::size_t replicas() const { return lanes_.size(); }
  const engine::Replica& replica(std::size_t i) const { return *lanes_[i]->replica; }
  std::uint64_t arrived() const { return arrived_; }
  std::uint64_t finished() const { return finished_; }
  // Nothing is running, waiting or announced.
  bool drained();
  // Throws LogicError if requests are unfinished while nothing will ever happen again. Call when the queue is empty.
  void check_liveness();

 private:
  struct Lane {
    Lane(core::Simulation& simulation, std::uint32_t index_) : completion(simulation), index(index_) {}
    std::unique_ptr<engine::Replica> replica;
    core::Timer completion;
    std::uint32_t index;
    bool decision_pending = false;
  };

  void arrive();
  void admit(workload::Request&& request);
  void arm_arrival();
  void complete(Lane& lane);
  void decide(Lane& lane);
  void start(Lane& lane);

  void first_token(workload::RequestId id, core::Time at) override { engine_observer_.first_token(id, at); }
  void finished(workload::RequestId id, core::Time at, std::int32_t output_tokens) override;
  void preempted(workload::RequestId id, core::Time at) override { engine_observer_.preempted(id, at); }
  void prefix_lookup(workload::RequestId id, std::int32_t queried, std::int32_t hit, bool again) override {
    engine_observer_.prefix_lookup(id, queried, hit, again);
  }
  void token_gap(core::Duration gap, std::int64_t weight) override { engine_observer_.token_gap(gap, weight); }
  void token_gaps(core::Time since, std::span<const core::Time> ends, std::int64_t weight) override {
    engine_observer_.token_gaps(since, ends, weight);
  }

  core::Simulation& simulation_;
  workload::Source& source_;
  Router& router_;
  ArrivalObserver& observer_;
  engine::Observer& engine_observer_;
  core::Timer arrival_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<engine::Load> loads_;         // scratch
  std::vector<workload::RequestId> ended_;  // scratch: finished by the commit in progress
  core::Time limit_;
  std::uint64_t arrived_ = 0, finished_ = 0;
};

}  // namespace servecast::cluster
