// One seat, prefill and decode at a fixed time per step: a queue whose law is known.
#include "plan/capacity.hpp"

#include "catch.hpp"
#include "core/error.hpp"

#include <cmath>
#include <string>

using namespace servecast;
using namespace servecast::plan;

namespace {

// Each request takes one prefill step and nine decode steps of 10 ms: 100 ms, so one seat serves 10 requests/s.
scenario::Scenario one_seat(double rate, std::int64_t requests) {
  scenario::Scenario s;
  s.name = "one seat";
  s.model.name = "qwen3-0.6b";
  s.cluster.node.name = "hgx-h100";
  scenario::Pool& pool = s.pools.emplace_back();
  pool.stack.name = "vllm-0.19";
  pool.engine.max_num_seqs = 1;
  pool.engine.max_model_len = 4096;
  s.cost.fixed.emplace();
  s.cost.fixed->step_us = 10'000;
  s.workload.arrivals.emplace().rate_per_s = rate;
  s.workload.requests = requests;
  s.workload.input_tokens.emplace().value = 16;
  s.workload.output_tokens.emplace().value = 10;
  return s;
}

scenario::Resolved resolved(scenario::Scenario s) { return scenario::resolve(std::move(s), "test"); }

}  // namespace

TEST_CASE("capacity of an M/D/1 queue is the rate at which its mean wait reaches the target") {
  // M/D/1: mean wait rho S / (2 (1 - rho)). E2E mean = S + wait; the median is below the mean, so the capacity at p50
  // lies between the rate for which the mean meets the target and the saturation rate.
  scenario::Scenario s = one_seat(4, 20'000);
  s.slo.e2e_ms = 200;
  s.slo.percentile = 50;
  const Capacity c = find_capacity(resolved(s), {});
  CHECK(c.unit == "requests/s");
  CHECK(c.scenario_rate == 4);
  // Mean wait 100 ms at rho = 2/3.
  CHECK(c.low() > 6.5);
  CHECK(c.high() < 10);
  CHECK(c.factor.high / c.factor.low <= 1.02);
  REQUIRE(c.at_high);
  CHECK_FALSE(c.at_high->why().empty());
  CHECK(c.at_scenario->good);
}

TEST_CASE("a target below the time of an empty system is met at no rate and with no number of replicas") {
  scenario::Scenario s = one_seat(4, 500);
  s.slo.e2e_ms = 50;
  const Capacity c = find_capacity(resolved(s), {});
  CHECK(c.factor.low == 0);
  const Sizing n = find_replicas(resolved(s), {});
  CHECK_FALSE(n.replicas);
  CHECK(n.problem.find("even without load") != std::string::npos);
}

TEST_CASE("the fewest replicas carry the rate, and one fewer does not") {
  scenario::Scenario s = one_seat(35, 5'000);  // 3.5 seats' worth of work
  s.slo.e2e_ms = 400;
  const Sizing n = find_replicas(resolved(s), {});
  REQUIRE(n.replicas);
  CHECK(*n.replicas >= 4);
  CHECK(*n.replicas <= 8);
  REQUIRE(n.below);
  CHECK_FALSE(n.below->good);
  CHECK(n.at->good);
}

TEST_CASE("a question without targets or without a rate is refused by name") {
  CHECK_THROWS_WITH(check_answerable(resolved(one_seat(4, 10)), "s"), Catch::Contains("s:/slo"));
  scenario::Scenario loop = one_seat(4, 10);
  loop.slo.ttft_ms = 100;
  loop.workload.arrivals.reset();
  loop.workload.requests.reset();
  loop.workload.closed_loop = {4, 40};
  CHECK_THROWS_WITH(check_answerable(resolved(loop), "s"), Catch::Contains("closed loop"));
  scenario::Scenario batch = one_seat(4, 10);
  batch.slo.ttft_ms = 100;
  batch.workload.arrivals->process = workload::Process::AllAtOnce;
  CHECK_THROWS_WITH(check_answerable(resolved(batch), "s"), Catch::Contains("all come at once"));
}

TEST_CASE("fewer requests than a percentile needs are refused with the number that would do") {
  CHECK(least_requests(50) == 50);
  CHECK(least_requests(90) == 50);
  CHECK(least_requests(99) == 500);
  CHECK(least_requests(99.9) == 5000);
  CHECK(least_requests(100) == 5000);
  scenario::Scenario s = one_seat(4, 499);
  s.slo.e2e_ms = 200;
  CHECK_THROWS_WITH(check_answerable(resolved(s), "s"),
                    Catch::Contains("s:/workload/requests: 499 requests") && Catch::Contains("at least 500"));
  s.workload.requests.reset();
  s.workload.duration_s = 5;
  CHECK_THROWS_WITH(find_capacity(resolved(s), {}), Catch::Contains("at least 500"));
  CHECK_THROWS_WITH(find_replicas(resolved(s), {}), Catch::Contains("at least 500"));
}

TEST_CASE("drawn traffic goes on until its runs can tell, so the fewest replicas do not depend on the stated count") {
  scenario::Scenario s = one_seat(2000, 500);  // 200 seats' worth of work, in a quarter of a second
  s.slo.e2e_ms = 400;
  s.slo.percentile = 90;
  const Sizing few = find_replicas(resolved(s), {});
  s.workload.requests = 20'000;
  const Sizing many = find_replicas(resolved(s), {});
  REQUIRE(few.replicas);
  REQUIRE(many.replicas);
  CHECK(*many.replicas >= 200);
  CHECK(*few.replicas >= *many.replicas - 20);
  CHECK(*few.replicas <= *many.replicas + 20);
  CHECK(few.at->requests > 500);
}

TEST_CASE("where the requests of a trace are too few to tell, the answer is a lower limit and says why") {
  Capacity c;
  c.unit = "times the trace";
  c.scenario_rate = 1;
  c.gpus = 1;
  c.factor = {2, 4};
  Point& high = c.at_high.emplace();
  high.requests = 100;
  high.enough_requests = 500;
  CHECK(high.undecided());
  CHECK(high.why() == "100 requests at this rate are too few to tell, about 500 would do");
  CHECK(capacity_text(c).find("at least 2.00 times the trace") == 0);
  CHECK(capacity_json(c).find("\"high\"") == std::string::npos);
}

TEST_CASE("replicas that the stated machines cannot hold come with the machines that can") {
  scenario::Scenario s = one_seat(35, 5'000);
  s.pools[0].parallel.tensor = 4;
  s.slo.e2e_ms = 400;
  const Sizing n = find_replicas(resolved(s), {});
  REQUIRE(n.replicas);
  CHECK(n.nodes_stated == 1);
  CHECK(n.nodes == (*n.replicas + 1) / 2);
  CHECK(sizing_text(n).find("nodes of hgx-h100, and the scenario has 1") != std::string::npos);
}

TEST_CASE("a rate at which the engine aborts for lack of memory is too high, and the answer says so") {
  scenario::Scenario s = one_seat(4, 500);
  scenario::Pool& pool = s.pools[0];
  pool.stack.name = "vllm-0.6";
  pool.engine.max_num_seqs = 64;
  pool.engine.max_model_len = 64;
  pool.engine.num_gpu_blocks_override = 40;  // two groups of 13 blocks, and no third
  pool.engine.swap_space_gib = 0;
  s.workload.samples = 4;
  s.workload.output_tokens->value = 40;
  s.slo.e2e_ms = 10'000;
  s.slo.percentile = 50;
  const Capacity c = find_capacity(resolved(s), {});
  REQUIRE(c.at_scenario);
  CHECK(c.at_scenario->aborted.find("test:/pools/0/engine/swap_space_gib: ") == 0);
  CHECK_FALSE(c.at_scenario->good);
  CHECK_FALSE(c.at_scenario->undecided());
  CHECK(c.low() > 0);
  CHECK(c.high() < 4);
  REQUIRE(c.at_high);
  CHECK_THAT(c.at_high->why(), Catch::Contains("the engine aborts: test:/pools/0/engine/swap_space_gib"));
  CHECK(capacity_text(c).find("aborted") != std::string::npos);
  CHECK_FALSE(find_replicas(resolved(s), {}).points.empty());
}
