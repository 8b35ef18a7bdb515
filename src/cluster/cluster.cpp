#include "cluster/cluster.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <utility>

namespace servecast::cluster {

using core::Rank;
using core::Time;

namespace {

constexpr int most_at_once = 4096;  // requests that one arrival event takes

}  // namespace

Cluster::Cluster(core::Simulation& simulation, workload::Source& source, Router& router, ArrivalObserver& observer,
                 engine::Observer& engine_observer)
    : simulation_(simulation),
      source_(source),
      router_(router),
      observer_(observer),
      engine_observer_(engine_observer),
      arrival_(simulation) {}

Cluster::~Cluster() = default;

void Cluster::add_replica(const MakeReplica& make) {
  auto lane = std::make_unique<Lane>(simulation_, static_cast<std::uint32_t>(lanes_.size()));
  lane->replica = make(*this);
  lanes_.push_back(std::move(lane));
}

void Cluster::start(Time limit) {
  SERVECAST_ENSURE(!lanes_.empty(), "a cluster without replicas");
  limit_ = limit;
  arm_arrival();
}

void Cluster::arm_arrival() {
  const Time next = source_.next_arrival();
  if (next == arrival_.due()) return;
  if (next == Time::never())
    arrival_.disarm();
  else
    arrival_.arm(next, Rank::Arrival, [this] { arrive(); });
}

// Takes the requests of this instant in the source's order; a crowd takes several events, so that whoever drives the
// simulation can look in between. Decisions of the instant still see all of them.
void Cluster::arrive() {
  for (int i = 0; i < most_at_once && source_.next_arrival() <= simulation_.now(); ++i) admit(source_.take());
  arm_arrival();
}

Time Cluster::stop(Time t) {
  Time last = t;
  for (const auto& lane : lanes_) {
    if (!lane->replica->running()) continue;
    last = std::max(last, lane->replica->stop(t).end);
    lane->completion.disarm();
    lane->replica->commit();
  }
  ended_.clear();
  return last;
}

void Cluster::admit(workload::Request&& request) {
  ++arrived_;
  loads_.clear();
  if (router_.needs_loads()) {
    for (const auto& lane : lanes_) loads_.push_back(lane->replica->load(0));
  }
  const RequestView view{request.id, request.prompt_tokens, request.session};
  const std::size_t target = lanes_.size() == 1 ? 0 : router_.route(view, loads_, lanes_.size());
  SERVECAST_ENSURE(target < lanes_.size(), "the router chose replica {} of {}", target, lanes_.size());
  Lane& lane = *lanes_[target];
  observer_.arrived(request, lane.index);
  lane.replica->enqueue(request, 0);
  if (!lane.replica->running()) {
    decide(lane);
    return;
  }
  const engine::Run run = lane.replica->cut(simulation_.now());
  if (run.end != lane.completion.due()) {
    lane.completion.arm(run.end, Rank::Completion, [this, &lane] { complete(lane); });
  }
}

void Cluster::complete(Lane& lane) {
  lane.replica->commit();
  for (const workload::RequestId id : ended_) source_.ended(id, simulation_.now());
  if (!ended_.empty() && source_.reacts()) arm_arrival();
  ended_.clear();
  decide(lane);
}

// Starts the replica at once if nothing else happens at this instant, else after everything that does.
void Cluster::decide(Lane& lane) {
  if (lane.decision_pending) return;
  if (simulation_.next_time() > simulation_.now() && source_.next_arrival() > simulation_.now()) {
    start(lane);
    return;
  }
  lane.decision_pending = true;
  simulation_.at(simulation_.now(), Rank::Decision, [this, &lane] {
    lane.decision_pending = false;
    start(lane);
  });
}

void Cluster::start(Lane& lane) {
  if (lane.replica->running() || !lane.replica->has_work()) return;
  // Only a lone replica knows that the next arrival is its own; others are cut when one comes.
  const Time horizon = lanes_.size() == 1 ? std::min(source_.next_arrival(), limit_) : limit_;
  const engine::Run run = lane.replica->advance(simulation_.now(), horizon, cost::LinkOffer{});
  if (run.steps == 0) {
    if (run.end > run.begin) lane.completion.arm(run.end, Rank::Transfer, [this, &lane] { decide(lane); });
    return;
  }
  lane.completion.arm(run.end, Rank::Completion, [this, &lane] { complete(lane); });
}

void Cluster::finished(workload::RequestId id, Time at, std::int32_t output_tokens) {
  ++finished_;
  ended_.push_back(id);
  engine_observer_.finished(id, at, output_tokens);
}

bool Cluster::drained() {
  if (source_.next_arrival() != Time::never()) return false;
  for (const auto& lane : lanes_) {
    if (lane->replica->has_work() || lane->replica->running()) return false;
  }
  return true;
}

void Cluster::check_liveness() {
  SERVECAST_ENSURE(drained() && arrived_ == finished_, "{} of {} requests are unfinished and nothing will wake them",
                   arrived_ - finished_, arrived_);
}

}  // namespace servecast::cluster
