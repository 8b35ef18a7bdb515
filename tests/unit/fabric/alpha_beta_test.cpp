#include "fabric/alpha_beta.hpp"

#include "catch.hpp"

#include <cmath>

using namespace servecast::fabric;

namespace {

// 100 GB/s achieved, latencies in whole microseconds.
ScaleUp links() {
  ScaleUp f;
  f.name = "test";
  f.per_direction_gb_s = 200;
  f.ranks_2 = {4, 2048, 8, 8192, 10, 0.5};
  f.ranks_4 = {5, 512, 10, 8192, 20, 0.5};
  f.ranks_8 = {6, 256, 12, 8192, 30, 0.5};
  f.send_us = 10;
  f.send_achieved = 0.5;
  return f;
}

}  // namespace

TEST_CASE("a group of one rank moves nothing") {
  const Group g = group_of(links(), 1);
  CHECK(all_reduce(g, 1e6).total_s() == 0);
  CHECK(all_gather(g, 1e6).bytes_sent == 0);
  CHECK(all_to_all(g, 1e6).algorithm == Algorithm::None);
}

TEST_CASE("a small all-reduce is one-shot: alpha + (n - 1) S / B") {
  const Collective c = all_reduce(group_of(links(), 8), 1e5);
  CHECK(c.algorithm == Algorithm::OneShot);
  CHECK(c.latency_s == Approx(6e-6));
  CHECK(c.bandwidth_s == Approx(7e5 / 1e11));
  CHECK(c.bytes_sent == Approx(7e5));
}

TEST_CASE("a medium all-reduce is two-shot and a large one a ring: 2 (n - 1) / n S / B") {
  const Group g = group_of(links(), 8);
  const Collective medium = all_reduce(g, 4e6);
  CHECK(medium.algorithm == Algorithm::TwoShot);
  CHECK(medium.total_s() == Approx(12e-6 + 1.75 * 4e6 / 1e11));
  const Collective large = all_reduce(g, 64e6);
  CHECK(large.algorithm == Algorithm::Ring);
  CHECK(large.total_s() == Approx(30e-6 + 1.75 * 64e6 / 1e11));
  CHECK(large.bytes_sent == Approx(1.75 * 64e6));
}

TEST_CASE("reduction in the switch sends each buffer once and wins for large buffers") {
  ScaleUp f = links();
  f.nvls = {6, 50, 0.5};
  const Collective c = all_reduce(group_of(f, 8), 1e9);
  CHECK(c.algorithm == Algorithm::Nvls);
  CHECK(c.total_s() == Approx(50e-6 + 1e9 / 1e11));
  CHECK(c.bytes_sent == Approx(1e9 * 1.125));
  CHECK(all_reduce(group_of(f, 4), 1e9).algorithm == Algorithm::Ring);
}

TEST_CASE("gathers move (n - 1) / n of the buffer, a message all of it") {
  const Group g = group_of(links(), 4);
  CHECK(all_gather(g, 4e6).total_s() == Approx(10e-6 + 3e6 / 1e11));
  CHECK(reduce_scatter(g, 4e6).bytes_sent == Approx(3e6));
  CHECK(all_to_all(g, 4e6).total_s() == Approx(10e-6 + 3e6 / 1e11));
  CHECK(send(g, 4e6).total_s() == Approx(10e-6 + 4e6 / 1e11));
}

TEST_CASE("latencies between two points follow log2 of the ranks and grow beyond the last") {
  CHECK(group_of(links(), 4).ring_s == Approx(20e-6));
  CHECK(group_of(links(), 6).ring_s == Approx((20 + 10 * (std::log2(6.0) - 2)) * 1e-6));
  CHECK(group_of(links(), 16).ring_s == Approx(40e-6));
  CHECK(group_of(links(), 16).bytes_per_s == Approx(1e11));
}

TEST_CASE("no collective gets faster with more bytes") {
  ScaleUp f = links();
  f.nvls = {6, 50, 0.5};
  for (const int ranks : {2, 3, 4, 5, 6, 8, 16}) {
    const Group g = group_of(f, ranks);
    double reduce = 0, gather = 0, scatter = 0, exchange = 0, message = 0;
    for (double bytes = 1; bytes < 1e10; bytes *= 1.07) {
      CHECK(all_reduce(g, bytes).total_s() >= reduce);
      CHECK(all_gather(g, bytes).total_s() >= gather);
      CHECK(reduce_scatter(g, bytes).total_s() >= scatter);
      CHECK(all_to_all(g, bytes).total_s() >= exchange);
      CHECK(send(g, bytes).total_s() >= message);
      reduce = all_reduce(g, bytes).total_s();
      gather = all_gather(g, bytes).total_s();
      scatter = reduce_scatter(g, bytes).total_s();
      exchange = all_to_all(g, bytes).total_s();
      message = send(g, bytes).total_s();
    }
  }
}
