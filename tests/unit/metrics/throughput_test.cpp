#include "metrics/throughput.hpp"

#include "catch.hpp"
#include "synthetic.hpp"

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

namespace {

RequestLog three_requests() {
  RequestLog log;
  complete(log, {10, 10.5, 11.5}, 11, 1000);  // TTFT 500, TPOT 100, E2E 1500
  complete(log, {11, 13.0, 13.0}, 1, 200);    // TTFT 2000, TPOT 0
  complete(log, {12, 12.1, 15.0}, 30, 300);   // TTFT 100, TPOT 100
  return log;
}

}  // namespace

TEST_CASE("rates run from the first arrival to the last completion") {
  const RequestLog log = three_requests();
  const core::Duration duration = run_duration(log, at(20));
  CHECK(duration == core::seconds(5));
  const Throughput t = measure_throughput(log, duration, 2, 100);
  CHECK(t.requests_per_s == Approx(0.6));
  CHECK(t.output_tokens_per_s == Approx(8.4));
  CHECK(t.total_tokens_per_s == Approx(308.4));
  CHECK(t.output_tokens_per_s_per_gpu == Approx(4.2));
  CHECK(t.tokens_per_s_per_user == Approx(10));
}

TEST_CASE("with unfinished requests the duration runs to the end of the run") {
  RequestLog log = three_requests();
  arrive(log, 14);
  CHECK(run_duration(log, at(20)) == core::seconds(10));
}

TEST_CASE("goodput counts targets inclusively and one-token requests as TPOT 0") {
  const RequestLog log = three_requests();
  const core::Duration duration = run_duration(log, at(15));
  const Seen seen{at(15), {}};
  CHECK(measure_goodput(log, duration, {2000.0, 100.0, {}}, seen).good == 3);
  CHECK(measure_goodput(log, duration, {1999.0, 100.0, {}}, seen).good == 2);
  CHECK(measure_goodput(log, duration, {{}, 99.0, {}}, seen).good == 1);
  CHECK(measure_goodput(log, duration, {{}, {}, 1500.0}, seen).good == 1);
  CHECK(measure_goodput(log, duration, {2000.0, {}, {}}, {at(15), core::milliseconds(1)}).good == 2);
  CHECK(measure_goodput(log, duration, {}, seen).requests_per_s == Approx(0.6));
}

TEST_CASE("attainment is over all requests, rejected ones and those in flight that have missed a target included") {
  RequestLog log = three_requests();
  arrive(log, 14);
  log.rejected(arrive(log, 14), at(14), "queue full");
  CHECK(measure_goodput(log, core::seconds(10), {1000.0, {}, {}}, {at(20), {}}).slo_attainment.value() == Approx(0.4));
}

TEST_CASE("a run without requests has no rates") {
  CHECK(run_duration(RequestLog{}, at(5)) == core::Duration{});
  CHECK(measure_throughput(RequestLog{}, {}, 4, 0).requests_per_s == 0);
}

TEST_CASE("a request in flight that has not missed a target yet counts neither way") {
  RequestLog log = three_requests();
  arrive(log, 19.5);
  const Goodput g = measure_goodput(log, core::seconds(10), {1000.0, {}, {}}, {at(20), {}});
  CHECK(g.undecided == 1);
  CHECK(g.slo_attainment.value() == Approx(2.0 / 3.0));
  RequestLog none;
  arrive(none, 1);
  CHECK_FALSE(measure_goodput(none, core::seconds(1), {5000.0, {}, {}}, {at(2), {}}).slo_attainment.has_value());
}
