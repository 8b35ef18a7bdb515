#include "metrics/confidence.hpp"

#include "catch.hpp"
#include "metrics/latency.hpp"
#include "synthetic.hpp"

#include <cmath>

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

TEST_CASE("a warm-up of slow requests is dropped") {
  RequestLog log;
  core::Random random(1, "test/noise");
  for (int i = 0; i < 5000; ++i) {
    const double ttft = (i < 500 ? 5.0 : 1.0) + random.uniform();
    complete(log, {1.0 * i, i + ttft, i + ttft + 1}, 11);
  }
  std::vector<double> scratch;
  const Confidence c = measure_confidence(log, {}, scratch);
  CHECK(c.warmup_conclusive);
  CHECK(c.warmup_dropped == 500);
  REQUIRE(c.ttft_ms.has_value());
  // 4,500 uniform TTFTs of deviation 289 ms: half-width about 2.06 * 289 / sqrt(4500) = 8.9 ms.
  CHECK(*c.ttft_ms == Approx(8.9).epsilon(0.35));
  CHECK(c.effective_samples > 2000);
  CHECK(c.effective_samples <= 4500);
}

TEST_CASE("the interval of M/D/1 waits holds the closed form") {
  // W = 1 + rho / (2 (1 - rho)) = 2 s at rho 2/3; over 40 runs at 95 % at least 32 intervals must hold it.
  int inside = 0;
  std::vector<double> scratch;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SingleServerRun run = simulate({2.0 / 3.0, 20000, seed, {}});
    const Confidence c = measure_confidence(run.log, {}, scratch);
    const Latency latency = measure_latency(run.log, {}, scratch);
    if (std::abs(latency.ttft_ms.mean - 2000) <= c.ttft_ms.value()) ++inside;
    CHECK(c.effective_samples < 20000 / 2.0);  // waits in a queue are correlated
  }
  CHECK(inside >= 32);
}

TEST_CASE("a handful of requests gives no interval") {
  RequestLog log;
  for (int i = 0; i < 8; ++i) complete(log, {1.0 * i, i + 0.5, i + 1.0}, 2);
  std::vector<double> scratch;
  const Confidence c = measure_confidence(log, {}, scratch);
  CHECK_FALSE(c.warmup_conclusive);
  CHECK_FALSE(c.ttft_ms.has_value());
}
