#include "plan/search.hpp"

#include "catch.hpp"

#include <cmath>
#include <set>

using namespace servecast::plan;

TEST_CASE("the interval encloses the limit and is as narrow as asked, from below and from above") {
  for (const double start : {0.01, 1.0, 500.0}) {
    std::set<double> asked;
    const Interval in = search(start, {.tolerance = 0.02}, [&](double x) {
      CHECK(asked.insert(x).second);  // no point twice
      return x <= 37.5;
    });
    CHECK(in.low <= 37.5);
    CHECK(in.high > 37.5);
    CHECK(in.high / in.low <= 1.02);
  }
}

TEST_CASE("a limit that no tried point reaches leaves that end open") {
  const Interval all =
      search(1, {.tolerance = 0.02, .most_doublings = 3, .most_halvings = 3}, [](double) { return true; });
  CHECK(all.low == 8);
  CHECK(std::isinf(all.high));
  const Interval none =
      search(1, {.tolerance = 0.02, .most_doublings = 3, .most_halvings = 3}, [](double) { return false; });
  CHECK(none.low == 0);
  CHECK(none.high == 0.125);
}

TEST_CASE("the fewest that are enough are found, and none when even the most are not") {
  for (const int limit : {1, 2, 3, 17, 100}) CHECK(fewest(100, [&](int n) { return n >= limit; }) == limit);
  CHECK_FALSE(fewest(100, [](int n) { return n >= 101; }));
}
