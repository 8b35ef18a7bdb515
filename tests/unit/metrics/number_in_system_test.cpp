#include "metrics/number_in_system.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "synthetic.hpp"

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

TEST_CASE("N(t) of three requests: levels at the bin edges and the exact integral") {
  RequestLog log;
  complete(log, {0, 1, 4}, 2);                                          // stays 4 s
  complete(log, {2, 3, 10}, 2);                                         // stays 8 s
  arrive(log, 6);                                                       // stays to the end, 6 s
  const NumberInSystem n = number_in_system(log.records(), at(12), 3);  // bins of 2 s over [0, 6]
  REQUIRE(n.bins.size() == 3);
  CHECK(n.bins[0].at_end == 1);
  CHECK(n.bins[1].at_end == 2);
  CHECK(n.bins[2].departures == 1);
  CHECK(n.bins[2].at_end == 2);
  CHECK(n.tail.departures == 1);
  CHECK(n.tail.at_end == 1);
  CHECK(n.request_seconds == Approx(18).epsilon(1e-12));
  CHECK(n.mean() == Approx(1.5).epsilon(1e-12));
}

TEST_CASE("requests that all arrive at one instant fill one bin") {
  RequestLog log;
  for (int i = 0; i < 5; ++i) complete(log, {0, 1.0 + i, 2.0 + i}, 2);
  const NumberInSystem n = number_in_system(log.records(), at(6));
  CHECK(n.bins.size() == 1);
  CHECK(n.bins[0].at_end == 5);
  CHECK(n.tail.at_end == 0);
  CHECK(n.request_seconds == Approx(2 + 3 + 4 + 5 + 6));
}

TEST_CASE("an empty log has no bins and a mean of zero") {
  CHECK(number_in_system(RequestLog{}.records(), at(1)).mean() == 0);
}

TEST_CASE("a request that outlives the run is our own bug") {
  RequestLog log;
  complete(log, {0, 1, 4}, 2);
  CHECK_THROWS_AS(number_in_system(log.records(), at(3)), core::LogicError);
}
