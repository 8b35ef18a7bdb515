#include "metrics/verdict.hpp"

#include "catch.hpp"
#include "synthetic.hpp"

#include <set>

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

namespace {

Verdict verdict_of(const SingleServerRun& run, bool stopped_early = false) {
  RunFacts facts;
  facts.stopped_early = stopped_early;
  facts.arrivals_ended = !stopped_early;
  facts.occupancy = run.busy_share;
  return judge(run.log, number_in_system(run.log.records(), run.end), facts);
}

}  // namespace

TEST_CASE("an M/D/1 queue below capacity is stable and its load factor is its utilisation") {
  for (const double rho : {0.5, 0.8, 0.95}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const SingleServerRun run = simulate({rho, 20000, seed, {}});
      const Verdict v = verdict_of(run);
      INFO("rho " << rho << " seed " << seed << ": " << v.reason);
      CHECK(v.state == State::Stable);
      CHECK(v.load_factor.value() == Approx(rho).margin(0.03));
    }
  }
}

TEST_CASE("short M/D/1 runs below capacity are not called overloaded") {
  for (const double rho : {0.5, 0.8, 0.95}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      CHECK(verdict_of(simulate({rho, 500, seed, {}})).state != State::Overloaded);
    }
  }
}

TEST_CASE("an M/D/1 queue above capacity is overloaded and its load factor is offered over served") {
  for (const double rho : {1.1, 1.5}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Verdict v = verdict_of(simulate({rho, 20000, seed, {}}));
      INFO("rho " << rho << " seed " << seed << ": " << v.reason);
      CHECK(v.state == State::Overloaded);
      CHECK(v.load_factor.value() == Approx(rho).margin(0.03));
    }
  }
}

TEST_CASE("overload is seen whether the queue is drained or the run stops at a limit") {
  const SingleServerRun run = simulate({1.5, 20000, 3, 5000.0});
  const Verdict v = verdict_of(run, true);
  CHECK(v.state == State::Overloaded);
  CHECK(v.load_factor.value() == Approx(1.5).margin(0.05));
  CHECK(v.reason.find("are unfinished") != std::string::npos);
}

TEST_CASE("a run stopped by its limit in steady state stays stable and counts what was in service") {
  const Verdict v = verdict_of(simulate({0.8, 20000, 4, 5000.0}), true);
  CHECK(v.state == State::Stable);
}

TEST_CASE("three times the capacity is overloaded even in a run of 200 requests") {
  const Verdict v = verdict_of(simulate({3.0, 200, 5, {}}));
  CHECK(v.state == State::Overloaded);
  CHECK(v.load_factor.value() == Approx(3.0).epsilon(0.15));
}

TEST_CASE("a burst that drains is backlogged, not overloaded") {
  RequestLog log;
  double free_at = 0;
  const auto serve = [&](double arrival) {
    free_at = std::max(free_at, arrival) + 1.0;
    complete(log, {arrival, free_at, free_at}, 1);
  };
  for (int i = 0; i < 500; ++i) serve(2.0 * i);
  for (int i = 0; i < 300; ++i) serve(1000 + 0.1 * i);  // ten times the capacity for 30 s
  for (int i = 0; i < 500; ++i) serve(1030 + 2.0 * i);
  RunFacts facts;
  facts.occupancy = 0.63;
  const Verdict v = judge(log, number_in_system(log.records(), log.last_finish()), facts);
  CHECK(v.state == State::Backlogged);
  CHECK(v.load_factor == 0.63);
}

TEST_CASE("batches that fill up at the start of a run are not a queue that grows") {
  RequestLog log;
  for (int i = 0; i < 400; ++i) complete(log, {0.1 * i, 0.1 * i + 0.2, 0.1 * i + 10.2}, 100);  // N climbs to 102
  RunFacts facts;
  facts.occupancy = 0.4;
  CHECK(judge(log, number_in_system(log.records(), log.last_finish()), facts).state == State::Stable);
}

TEST_CASE("work left behind long after the last arrival is overload") {
  RequestLog log;
  for (int i = 0; i < 10; ++i) complete(log, {1.0 * i, i + 0.5, i + 1.0}, 2);
  arrive(log, 10);
  RunFacts facts;
  facts.stopped_early = true;
  const Verdict v = judge(log, number_in_system(log.records(), at(60)), facts);
  CHECK(v.state == State::Overloaded);
  CHECK(v.reason == "the run reached its limit before the queue drained; 1 of 11 are unfinished");
  CHECK(v.load_factor.value() == Approx(1.1));
}

TEST_CASE("with a known capacity the load factor is the arrival rate over it") {
  RequestLog log;
  for (int i = 0; i <= 1000; ++i) complete(log, {0.1 * i, 0.1 * i + 0.2, 0.1 * i + 1.0}, 100);
  RunFacts facts;
  facts.occupancy = 0.1;
  facts.capacity_requests_per_s = 20;
  const Verdict v = judge(log, number_in_system(log.records(), log.last_finish()), facts);
  CHECK(v.state == State::Stable);
  CHECK(v.load_factor.value() == Approx(0.5).epsilon(0.01));
}

TEST_CASE("closed loops and offline batches are stable by nature") {
  RequestLog log;
  for (int i = 0; i < 200; ++i) complete(log, {0.0, 1.0 * i, i + 0.5}, 10);
  const NumberInSystem n = number_in_system(log.records(), log.last_finish());
  CHECK(judge(log, n, {Traffic::AllAtOnce, false, true, 0.97}).reason ==
        "an offline batch: every request was there from the start");
  CHECK(judge(log, n, {Traffic::Closed, false, true, 0.97}).load_factor == 0.97);
}

TEST_CASE("an infeasible verdict has a reason and no load factor") {
  const Verdict v = infeasible("weights need 203 GiB, a GPU has 178 GiB");
  CHECK(v.state == State::Infeasible);
  CHECK_FALSE(v.load_factor.has_value());
}

TEST_CASE("requests that decode when the run is stopped are no queue") {
  RequestLog log;
  for (int i = 0; i < 90; ++i) log.first_token(arrive(log, 0.3 * i), at(0.3 * i + 0.1));
  RunFacts facts;
  facts.stopped_early = true;
  facts.arrivals_ended = false;
  const Verdict v = judge(log, number_in_system(log.records(), at(30)), facts);
  CHECK(v.state == State::Stable);
  CHECK_FALSE(v.conclusive);
  CHECK(v.reason == "none of 90 requests was completed before the run ended");
}

TEST_CASE("a run stopped after a fraction of a second is not called overloaded") {
  RequestLog log;
  for (int i = 0; i < 7; ++i) arrive(log, 0.07 * i);
  for (const bool ended : {false, true}) {
    RunFacts facts;
    facts.stopped_early = true;
    facts.arrivals_ended = ended;
    const Verdict v = judge(log, number_in_system(log.records(), at(0.5)), facts);
    CHECK(v.state == State::Stable);
    CHECK_FALSE(v.conclusive);
  }
}

TEST_CASE("faster than the capacity, but too few to show a queue, is too short to tell") {
  RequestLog log;
  for (int i = 0; i <= 200; ++i) complete(log, {0.01 * i, 0.01 * i + 0.2, 0.01 * i + 0.3}, 10);
  RunFacts facts;
  facts.capacity_requests_per_s = 80;
  const Verdict v = judge(log, number_in_system(log.records(), log.last_finish()), facts);
  CHECK(v.state == State::Stable);
  CHECK_FALSE(v.conclusive);
  CHECK(v.load_factor.value() == Approx(1.25));
  facts.capacity_requests_per_s = 400;
  CHECK(judge(log, number_in_system(log.records(), log.last_finish()), facts).conclusive);
}

TEST_CASE("a run without arrivals has no load factor and tells nothing") {
  const Verdict v = judge(RequestLog{}, NumberInSystem{}, {});
  CHECK_FALSE(v.conclusive);
  CHECK_FALSE(v.load_factor.has_value());
}
