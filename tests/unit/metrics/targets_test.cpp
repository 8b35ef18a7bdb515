#include "metrics/targets.hpp"

#include "catch.hpp"
#include "synthetic.hpp"

#include <cmath>

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

namespace {

// One request completed, one that has its first token, one that waits; all arrived at 0 and are seen at 10 s.
RequestLog three_stages() {
  RequestLog log;
  complete(log, {0, 0.5, 4.5}, 41);
  log.first_token(arrive(log, 0), at(2));
  arrive(log, 0);
  return log;
}

const Seen at_ten{at(10), {}};

}  // namespace

TEST_CASE("the first token of a request in flight counts, and a wait that is too long is a miss") {
  const auto values = against_targets(three_stages(), {5000.0, {}, {}}, 50, at_ten);
  REQUIRE(values.size() == 1);
  CHECK(values[0].name == "ttft");
  CHECK(values[0].decided == 3);
  CHECK(values[0].value_ms == Approx(2000));
  CHECK(std::isinf(against_targets(three_stages(), {5000.0, {}, {}}, 100, at_ten)[0].value_ms));
}

TEST_CASE("a request that may still meet its target is left out") {
  const auto values = against_targets(three_stages(), {20000.0, 100.0, 20000.0}, 100, at_ten);
  REQUIRE(values.size() == 3);
  CHECK(values[0].decided == 2);
  CHECK(values[0].value_ms == Approx(2000));
  CHECK(values[1].decided == 1);
  CHECK(values[1].value_ms == Approx(100));
  CHECK(values[2].decided == 1);
  CHECK(values[2].value_ms == Approx(4500));
  for (const TargetValue& v : values) CHECK(v.met());
}

TEST_CASE("a rejected request misses every target") {
  RequestLog log;
  log.rejected(arrive(log, 0), at(0), "queue full");
  for (const TargetValue& v : against_targets(log, {1e6, 1e6, 1e6}, 50, at_ten)) CHECK_FALSE(v.met());
  CHECK(outcome_of(log.records()[0], {1e6, {}, {}}, at_ten) == Outcome::Missed);
}
