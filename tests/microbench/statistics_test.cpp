#include "microbench/host/statistics.hpp"

#include "catch.hpp"
#include "core/error.hpp"

using servecast::microbench::summarise;

TEST_CASE("the median ignores one slow sample and the spread is the middle half over the median") {
  const auto s = summarise({10, 11, 12, 13, 1000});
  CHECK(s.median == 12);
  CHECK(s.spread == Approx(2.0 / 12));
  const auto even = summarise({4, 1, 3, 2});
  CHECK(even.median == 2.5);
  CHECK(even.spread == Approx((3.25 - 1.75) / 2.5));
}

TEST_CASE("one sample has no spread, and none is a bug") {
  CHECK(summarise({7}).median == 7);
  CHECK(summarise({7}).spread == 0);
  CHECK(summarise({0, 0}).spread == 0);
  CHECK_THROWS_AS(summarise({}), servecast::core::LogicError);
}
