// Closed forms of queueing theory with a degenerate engine: one token per step, a step of constant length, one request
// a seat. Service is then output x step, exponential when outputs are geometric with a large mean. Each law is checked
// against a confidence interval from 20 independent replications (Student t, 99 %: 2.861 standard errors).
#include "catch.hpp"
#include "cluster/cluster.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
#include "engine/plain_loop.hpp"
#include "support/recorder.hpp"
#include "support/scripted_source.hpp"

#include <cmath>
#include <functional>
#include <vector>

using namespace servecast;

namespace {

constexpr std::int64_t step_ps = 1'000'000;  // 1 us
constexpr double mean_output = 200;          // tokens, so steps, of a mean service

struct ConstantStep : test::RoundCost {
  core::Duration chunk(std::int32_t, std::int32_t) const override { return {0}; }
  cost::StepTime step(const cost::StepShape&) const override {
    cost::StepTime t;
    t.total = t.host = {step_ps};
    return t;
  }
};

struct Sojourns : cluster::ArrivalObserver, engine::Observer {
  std::vector<std::int64_t> arrival, finish;
  void arrived(const workload::Request& r, std::uint32_t) override { arrival.push_back(r.arrival.ps); }
  void first_token(workload::RequestId, core::Time) override {}
  void finished(workload::RequestId id, core::Time at, std::int32_t) override {
    if (finish.size() <= id.value) finish.resize(id.value + 1);
    finish[id.value] = at.ps;
  }
  void preempted(workload::RequestId, core::Time) override { FAIL("nothing may be preempted here"); }
  void prefix_lookup(workload::RequestId, std::int32_t, std::int32_t, bool) override {}
  void token_gap(core::Duration, std::int64_t) override {}
};

struct Mean {
  double value = 0, error = 0;
};

Mean summarise(const std::vector<double>& runs) {
  Mean m;
  for (const double x : runs) m.value += x / static_cast<double>(runs.size());
  double variance = 0;
  for (const double x : runs) variance += (x - m.value) * (x - m.value) / static_cast<double>(runs.size() - 1);
  m.error = std::sqrt(variance / static_cast<double>(runs.size()));
  return m;
}

using Outputs = std::function<std::int32_t(core::Random&)>;

// Mean wait in units of the mean service, over 20 replications of n requests; the first fifth is warm-up.
Mean mean_wait(double utilisation, std::int32_t servers, const Outputs& outputs) {
  constexpr std::uint32_t n = 20000;
  std::vector<double> runs;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    core::Random gaps(seed, "test/arrivals"), lengths(seed, "test/outputs");
    std::vector<workload::Request> requests;
    double t = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      t += gaps.exponential(mean_output / (utilisation * servers));
      requests.push_back(test::request(i, static_cast<std::int64_t>(t * step_ps), 1, outputs(lengths)));
    }
    engine::Config config;
    config.max_num_seqs = servers;
    config.max_num_batched_tokens = servers;
    config.blocks = 1'000'000;
    config.enable_prefix_caching = false;
    config.async_scheduling = false;
    config.max_model_len = 1 << 20;
    ConstantStep cost;
    Sojourns seen;
    core::Simulation simulation;
    test::ScriptedSource source(requests);
    const auto router = cluster::make_round_robin();
    cluster::Cluster cluster(simulation, source, *router, seen, seen);
    cluster.add_replica([&](engine::Observer& o) { return engine::make_constant_time(config, cost, o); });
    cluster.start();
    simulation.run();
    cluster.check_liveness();
    double wait = 0;
    for (std::uint32_t i = n / 5; i < n; ++i) {
      wait += static_cast<double>(seen.finish[i] - seen.arrival[i]) / step_ps - requests[i].hidden.output_tokens;
    }
    runs.push_back(wait / (n - n / 5) / mean_output);
  }
  return summarise(runs);
}

double erlang_c(int k, double rho) {
  const double a = k * rho;
  double term = 1, sum = 1;  // a^i / i!
  for (int i = 1; i < k; ++i) {
    term *= a / i;
    sum += term;
  }
  const double last = term * a / k / (1 - rho);
  return last / (sum + last);
}

// A seat opens only at a step's end, so an arrival at a busy or idle engine loses at most one step, 1/200 of a service.
void check(const Mean& measured, double expected) {
  INFO("measured " << measured.value << " +- " << measured.error << ", expected " << expected);
  CHECK(std::abs(measured.value - expected) <= 2.861 * measured.error + 1 / mean_output);
}

std::int32_t geometric(core::Random& random) {
  return 1 + static_cast<std::int32_t>(std::log(random.uniform_open()) / std::log(1 - 1 / mean_output));
}
std::int32_t deterministic(core::Random&) { return static_cast<std::int32_t>(mean_output); }

}  // namespace

TEST_CASE("M/M/1: the mean wait is rho / (1 - rho) services") {
  for (const double rho : {0.3, 0.5, 0.8}) check(mean_wait(rho, 1, geometric), rho / (1 - rho));
}

TEST_CASE("M/D/1: the mean wait is rho / (2 (1 - rho)) services") {
  for (const double rho : {0.3, 0.5, 0.8}) {
    check(mean_wait(rho, 1, deterministic), rho / (2 * (1 - rho)));
  }
}

TEST_CASE("M/M/k: the mean wait is C(k, rho) / (k (1 - rho)) services") {
  for (const double rho : {0.3, 0.5, 0.8}) {
    check(mean_wait(rho, 4, geometric), erlang_c(4, rho) / (4 * (1 - rho)));
  }
}
