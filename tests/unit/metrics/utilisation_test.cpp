#include "metrics/utilisation.hpp"

#include "catch.hpp"
#include "metrics/timeline.hpp"

using namespace servecast;
using namespace servecast::metrics;

namespace {

engine::Totals busy_replica() {
  engine::Totals t;
  t.steps = 100;
  t.prefill_tokens = 60000;
  t.decode_tokens = 20000;
  t.busy = core::seconds(8);
  t.compute = core::seconds(2);
  t.memory = core::seconds(4);
  t.network = core::seconds(1);
  t.host = core::seconds(1);
  t.running_time = engine::Integral{8000000000000} * 64;
  t.block_time = engine::Integral{8000000000000} * 500;
  t.peak_blocks_used = 900;
  return t;
}

}  // namespace

TEST_CASE("time shares of two replicas over ten seconds sum to one") {
  engine::Totals sum = busy_replica();
  add_totals(sum, engine::Totals{});  // the second replica never worked
  const TimeShares t = time_shares(sum, core::seconds(10), 2);
  CHECK(t.compute == Approx(0.1));
  CHECK(t.memory == Approx(0.2));
  CHECK(t.network == Approx(0.05));
  CHECK(t.host == Approx(0.05));
  CHECK(t.idle == Approx(0.6));
}

TEST_CASE("occupancy is the mean use of slots, blocks and step tokens over the replicas' life") {
  const Occupancy o = occupancy(busy_replica(), core::seconds(10), 1, {128, 1000, 1000});
  CHECK(o.sequence_slots == Approx(0.4));
  CHECK(o.kv_blocks == Approx(0.4));
  CHECK(o.step_tokens == Approx(0.64));
  CHECK(o.largest() == Approx(0.64));
}

TEST_CASE("the limiting resource is the exhausted one, else what the busy time waits for") {
  const TimeShares time = {0.2, 0.5, 0.1, 0.1, 0.1};
  CHECK(limiting_resource(time, {0.5, 0.5, 0.5}) == "memory_bandwidth");
  CHECK(limiting_resource(time, {0.5, 0.95, 0.5}) == "kv_memory");
  CHECK(limiting_resource(time, {0.97, 0.95, 0.5}) == "sequence_slots");
  CHECK(limiting_resource(time, {0.1, 0.1, 0.99}) == "step_tokens");
  CHECK(limiting_resource({0, 0, 0, 0, 1}, {}) == "none");
}

TEST_CASE("a timeline keeps one row of pools per sample") {
  Timeline timeline({"prefill", "decode"});
  const PoolSample pools[] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  timeline.add(core::Time{7}, 16, pools);
  timeline.add(core::Time{9}, 3, pools);
  REQUIRE(timeline.size() == 2);
  CHECK(timeline.time(1) == core::Time{9});
  CHECK(timeline.in_flight(0) == 16);
  CHECK(timeline.sample(1)[1].blocks_cached == 9);
}

TEST_CASE("shares sum to 1 where the last step outlasts the run") {
  const TimeShares t = time_shares(busy_replica(), core::seconds(5), 1);
  CHECK(t.compute + t.memory + t.network + t.host + t.idle == Approx(1));
  CHECK(t.memory == Approx(0.5));
  CHECK(t.idle == 0);
}
