#include "metrics/latency.hpp"

#include "catch.hpp"
#include "synthetic.hpp"

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

TEST_CASE("percentiles interpolate linearly: 1 2 3 4 has p50 2.5, p90 3.7, p99 3.97") {
  std::vector<double> values = {4, 2, 1, 3};
  const Distribution d = distribution_of(values);
  CHECK(d.count == 4);
  CHECK(d.mean == 2.5);
  CHECK(d.p50 == 2.5);
  CHECK(d.p90 == Approx(3.7).epsilon(1e-12));
  CHECK(d.p95 == Approx(3.85).epsilon(1e-12));
  CHECK(d.p99 == Approx(3.97).epsilon(1e-12));
  CHECK(d.max == 4);
}

TEST_CASE("an empty sample gives zeros") {
  std::vector<double> scratch;
  const Latency latency = measure_latency(RequestLog{}, {}, scratch);
  CHECK(latency.ttft_ms.count == 0);
  CHECK(latency.e2e_ms.p99 == 0);
  CHECK(latency.itl_ms.max == 0);
}

TEST_CASE("a request with one output token is left out of TPOT but counts in TTFT and E2E") {
  RequestLog log;
  complete(log, {0, 0.1, 0.1}, 1);
  complete(log, {1, 1.2, 2.2}, 11);  // TPOT = 1000 ms / 10
  std::vector<double> scratch;
  const Latency latency = measure_latency(log, {}, scratch);
  CHECK(latency.ttft_ms.count == 2);
  CHECK(latency.ttft_ms.mean == Approx(150));
  CHECK(latency.tpot_ms.count == 1);
  CHECK(latency.tpot_ms.mean == Approx(100));
  CHECK(latency.e2e_ms.max == Approx(1200));
  CHECK(tpot_ms(log.records()[0]) == 0);
}

TEST_CASE("the client overhead delays first and last token and cancels in TPOT") {
  RequestLog log;
  complete(log, {0, 1, 2}, 11);
  std::vector<double> scratch;
  const Latency latency = measure_latency(log, core::milliseconds(7), scratch);
  CHECK(latency.ttft_ms.mean == Approx(1007));
  CHECK(latency.e2e_ms.mean == Approx(2007));
  CHECK(latency.tpot_ms.mean == Approx(100));
}

TEST_CASE("unfinished and rejected requests are in no latency") {
  RequestLog log;
  complete(log, {0, 1, 2}, 11);
  log.first_token(arrive(log, 0.5), at(1.5));
  log.rejected(arrive(log, 0.6), at(0.6), "too long");
  std::vector<double> scratch;
  CHECK(measure_latency(log, {}, scratch).ttft_ms.count == 1);
}

TEST_CASE("ITL pools every gap by its weight, within the sketch's error") {
  RequestLog log;
  log.token_gap(core::milliseconds(10), 98);
  log.token_gap(core::milliseconds(30), 2);
  std::vector<double> scratch;
  const Distribution itl = measure_latency(log, {}, scratch).itl_ms;
  CHECK(itl.count == 100);
  CHECK(itl.mean == Approx(10.4));
  CHECK(itl.p50 == Approx(10).epsilon(core::LogSketch::relative_error));
  CHECK(itl.max == Approx(30));
}
