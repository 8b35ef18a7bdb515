#include "cost/kernels/surface.hpp"

#include "catch.hpp"
#include "cost/kernels/curve.hpp"

#include <cmath>

using namespace servecast::cost::kernels;

TEST_CASE("a surface is exact at its knots, linear in log2 between them and constant beyond") {
  const Surface s({{{1, 4, 64}, {2, 8}}, {0, 10, 20, 30, 40, 50}, {}});
  CHECK(s.at({0, 1}) == Approx(0.0));
  CHECK(s.at({0, 3}) == Approx(0.1));
  CHECK(s.at({2, 1}) == Approx(0.2));
  CHECK(s.at({6, 3}) == Approx(0.5));
  CHECK(s.at({1, 2}) == Approx(0.15));
  CHECK(s.at({4, 1}) == Approx(0.3));
  CHECK(s.at({-5, 1}) == Approx(0.0));
  CHECK(s.at({9, 9}) == Approx(0.5));
}

TEST_CASE("an axis of one knot is constant") {
  const Surface s({{{128}, {1, 2}}, {1, 2}, {}});
  CHECK(s.at({3, 0.5}) == Approx(0.015));
  CHECK(s.at({7, 0}) == Approx(0.01));
}

TEST_CASE("a curve is exact at its sizes and geometric between numbers of GPUs") {
  CurveSet set("all_reduce", "graph");
  set.add({"all_reduce", "graph", 8, {1024, 4096}, {16, 64}});
  set.add({"all_reduce", "graph", 2, {1024, 4096}, {4, 4}});
  CurveTime t;
  REQUIRE(set.time(1024, 8, t));
  CHECK(t.us == Approx(16));
  CHECK_FALSE(t.interpolated);
  REQUIRE(set.time(2048, 8, t));
  CHECK(t.us == Approx(32));
  REQUIRE(set.time(1024, 4, t));
  CHECK(t.us == Approx(8));
  CHECK(t.interpolated);
  REQUIRE(set.time(16, 2, t));
  CHECK(t.us == Approx(4));
  CHECK(t.outside);
  REQUIRE(set.time(8192, 8, t));
  CHECK(t.us == Approx(128));
  CHECK_FALSE(set.time(1024, 16, t));
}
