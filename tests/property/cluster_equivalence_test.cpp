// A cluster of constant-time replicas equals one of plain replicas to the bit, whatever the router, and in open and
// closed loops: runs cut by arrivals never change what happens.
#include "catch.hpp"
#include "cluster/cluster.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
#include "engine/plain_loop.hpp"
#include "support/recorder.hpp"
#include "support/scripted_source.hpp"

#include <optional>

using namespace servecast;

namespace {

struct Placement : cluster::ArrivalObserver {
  std::vector<std::uint32_t> replica;
  void arrived(const workload::Request&, std::uint32_t index) override { replica.push_back(index); }
};

struct Outcome {
  test::Recorder recorder;
  Placement placement;
  std::vector<engine::Totals> totals;
  std::uint64_t events = 0;
};

struct Setup {
  engine::Config config;
  test::RoundCost cost;
  std::vector<workload::Request> requests;
  std::size_t replicas = 1;
  int router = 0;
  bool loop = false;
  std::optional<core::Time> stop;  // the run ends there, whatever is unfinished
};

std::unique_ptr<cluster::Router> router_of(int kind) {
  switch (kind) {
    case 0: return cluster::make_round_robin();
    case 1: return cluster::make_random(7);
    case 2: return cluster::make_least_loaded();
    default: return cluster::make_power_of_two(7);
  }
}

void play(const Setup& setup, bool plain, Outcome& outcome) {
  core::Simulation simulation;
  test::ScriptedSource open(setup.requests);
  test::LoopingSource closed(setup.requests, 5, {1'500'000});
  workload::Source& source = setup.loop ? static_cast<workload::Source&>(closed) : open;
  const auto router = router_of(setup.router);
  cluster::Cluster cluster(simulation, source, *router, outcome.placement, outcome.recorder);
  for (std::size_t i = 0; i < setup.replicas; ++i) {
    cluster.add_replica([&](engine::Observer& observer) {
      return plain ? engine::make_plain_loop(setup.config, setup.cost, observer)
                   : engine::make_constant_time(setup.config, setup.cost, observer);
    });
  }
  cluster.start();
  if (setup.stop) {
    simulation.run_until(*setup.stop);
    cluster.stop(*setup.stop);
  } else {
    simulation.run();
    cluster.check_liveness();
    REQUIRE(cluster.finished() == setup.requests.size());
  }
  for (std::size_t i = 0; i < setup.replicas; ++i) outcome.totals.push_back(cluster.replica(i).totals());
  outcome.events = simulation.events();
  outcome.recorder.sort();
}

Setup random_setup(std::uint64_t seed) {
  core::Random random(seed, "test/cluster-equivalence");
  const auto pick = [&random](std::int64_t low, std::int64_t high) {
    return static_cast<std::int32_t>(
        low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1))));
  };
  Setup s;
  s.replicas = static_cast<std::size_t>(pick(1, 5));
  s.router = pick(0, 3);
  s.loop = random.below(3) == 0;
  s.config.max_num_seqs = pick(1, 32);
  s.config.max_num_batched_tokens = pick(32, 600);
  s.config.max_model_len = 400;
  s.config.blocks = pick(26, 120);
  s.config.enable_prefix_caching = random.below(2) == 0;
  s.config.async_scheduling = random.below(2) == 0;
  s.config.stop = random.below(2) == 0 ? engine::Stop::Eos : engine::Stop::Length;
  std::int64_t t = 0;
  const std::uint64_t gap = 1 + random.below(20'000'000);
  for (std::uint32_t i = 0; i < 80; ++i) {
    t += static_cast<std::int64_t>(random.below(gap));
    if (random.below(8) == 0) t = (t / 1'000'000 + 1) * 1'000'000;
    s.requests.push_back(test::request(i, t, pick(1, 250), pick(1, 140)));
  }
  if (random.below(3) == 0) s.stop = core::Time{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(t)))};
  return s;
}

}  // namespace

TEST_CASE("a cluster of constant-time replicas equals one of plain replicas") {
  std::uint64_t fast_events = 0, plain_events = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Setup setup = random_setup(seed);
    Outcome plain, fast;
    INFO("seed " << seed);
    play(setup, true, plain);
    play(setup, false, fast);
    REQUIRE(plain.recorder.events == fast.recorder.events);
    REQUIRE(plain.recorder.gaps == fast.recorder.gaps);
    REQUIRE(plain.placement.replica == fast.placement.replica);
    REQUIRE(plain.totals == fast.totals);
    fast_events += fast.events;
    plain_events += plain.events;
  }
  REQUIRE(fast_events < plain_events);
}
