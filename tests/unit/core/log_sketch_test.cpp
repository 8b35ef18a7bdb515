#include "core/log_sketch.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/statistics.hpp"

#include <cmath>
#include <limits>
#include <vector>

using namespace servecast::core;

TEST_CASE("every single value comes back within 1/256 at any magnitude") {
  std::vector<std::int64_t> values = {0, 1, 127, 128, 255, 256, 257, 258, 511, 512, 513};
  for (int bit = 10; bit < 63; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) values.push_back((std::int64_t{1} << bit) + off);
  }
  values.push_back(std::numeric_limits<std::int64_t>::max());
  for (const std::int64_t value : values) {
    LogSketch sketch;
    sketch.add(value);
    // Neighbours on both sides keep min and max from making the answer exact.
    if (value > 1) sketch.add(0);
    if (value > 1 && value < std::numeric_limits<std::int64_t>::max()) {
      sketch.add(std::numeric_limits<std::int64_t>::max());
    }
    const double q = sketch.count() == 3 ? 0.5 : 1.0;
    CHECK(std::abs(sketch.quantile(q) - static_cast<double>(value)) <=
          LogSketch::relative_error * static_cast<double>(value));
  }
}

TEST_CASE("quantiles of random samples are within 1/256 of the exact ones; count, mean and extremes are exact") {
  Random random(17, "sketch");
  LogSketch sketch;
  std::vector<std::int64_t> values;
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::int64_t>(random.lognormal(20, 3)));
    sketch.add(values.back());
    sum += static_cast<double>(values.back());
  }
  CHECK(sketch.count() == 20'000);
  CHECK(sketch.mean() == Approx(sum / 20'000).epsilon(1e-12));
  const std::vector<double> ps = {0, 1, 10, 25, 50, 75, 90, 99, 99.9, 100};
  const std::vector<double> exact = percentiles(values, ps);
  for (std::size_t i = 0; i < ps.size(); ++i) {
    CAPTURE(ps[i]);
    CHECK(std::abs(sketch.quantile(ps[i] / 100) - exact[i]) <= exact[i] / 256 * (1 + 1e-9));
  }
  CHECK(static_cast<double>(sketch.min()) == exact.front());
  CHECK(static_cast<double>(sketch.max()) == exact.back());
}

TEST_CASE("a weight is as many values, and merging is adding") {
  LogSketch once;
  LogSketch weighted;
  LogSketch part;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t value = i * i * 1000 + 5;
    for (int k = 0; k < i % 7; ++k) once.add(value);
    (i % 2 == 0 ? weighted : part).add(value, static_cast<std::uint64_t>(i % 7));
  }
  weighted.merge(part);
  CHECK(once.count() == weighted.count());
  CHECK(once.mean() == weighted.mean());
  for (const double q : {0.0, 0.1, 0.5, 0.9, 0.999, 1.0}) CHECK(once.quantile(q) == weighted.quantile(q));
}

TEST_CASE("the sum does not overflow where 64 bits would") {
  LogSketch sketch;
  const std::int64_t day = 86'400'000'000'000'000;
  sketch.add(day, 1'000'000'000);
  CHECK(sketch.mean() == static_cast<double>(day));
}

TEST_CASE("an empty sketch answers 0, a negative value is a bug") {
  LogSketch sketch;
  CHECK(sketch.quantile(0.5) == 0);
  CHECK(sketch.mean() == 0);
  CHECK(sketch.min() == 0);
  CHECK_THROWS_AS(sketch.quantile(1.5), LogicError);
  sketch.add(-1);
  CHECK_THROWS_AS(sketch.quantile(0.5), LogicError);
}
