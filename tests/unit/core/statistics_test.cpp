#include "core/statistics.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace servecast::core;

TEST_CASE("percentiles interpolate linearly at (n - 1) p / 100") {
  std::vector<double> values = {4, 2, 1, 3};
  const std::vector<double> ps = {50, 90, 99};
  const std::vector<double> result = percentiles(values, ps);
  CHECK(result[0] == Approx(2.5).epsilon(1e-15));
  CHECK(result[1] == Approx(3.7).epsilon(1e-15));
  CHECK(result[2] == Approx(3.97).epsilon(1e-15));
}

TEST_CASE("percentiles of nothing are 0, of one value that value") {
  std::vector<double> none;
  std::vector<double> one = {7};
  CHECK(percentile(none, 99) == 0);
  CHECK(percentile(one, 0) == 7);
  CHECK(percentile(one, 100) == 7);
  CHECK_THROWS_AS(percentile(one, 100.5), LogicError);
}

TEST_CASE("percentiles in any order and repeated agree with a full sort") {
  Random random(5, "percentiles");
  for (const int n : {2, 3, 10, 101, 5000}) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(std::floor(random.exponential(50)));  // with ties
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<double> ps = {99, 50, 50, 0, 100, 99.9, 90, 50.01, 33.3};
    const std::vector<double> result = percentiles(values, ps);
    for (std::size_t i = 0; i < ps.size(); ++i) {
      const double x = static_cast<double>(n - 1) * ps[i] / 100;
      const auto low = static_cast<std::size_t>(x);
      const double above = sorted[std::min(low + 1, sorted.size() - 1)];
      CHECK(result[i] == Approx(sorted[low] + (x - static_cast<double>(low)) * (above - sorted[low])).epsilon(1e-12));
    }
  }
}

TEST_CASE("integers and floats have percentiles too") {
  std::vector<std::int64_t> whole = {10, 20};
  std::vector<float> real = {1.5f, 0.5f};
  const std::vector<double> ps = {50};
  CHECK(percentiles(whole, ps)[0] == 15);
  CHECK(percentiles(real, ps)[0] == 1.0);
}

TEST_CASE("running moments equal the textbook ones and survive merging") {
  Running r;
  CHECK(r.mean() == 0);
  CHECK(r.variance() == 0);
  for (const double x : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) r.add(x);
  CHECK(r.count() == 8);
  CHECK(r.mean() == 5);
  CHECK(r.deviation() == 2);
  CHECK(r.sample_variance() == Approx(32.0 / 7));
  CHECK(r.min() == 2);
  CHECK(r.max() == 9);
  Running left;
  Running right;
  Running empty;
  for (const double x : {2.0, 4.0, 4.0}) left.add(x);
  for (const double x : {4.0, 5.0, 5.0, 7.0, 9.0}) right.add(x);
  left.merge(right);
  left.merge(empty);
  empty.merge(left);
  CHECK(empty.mean() == Approx(5).epsilon(1e-15));
  CHECK(empty.variance() == Approx(4).epsilon(1e-15));
  CHECK(empty.min() == 2);
}

TEST_CASE("running variance keeps its digits far from zero") {
  Running r;
  for (int i = 0; i < 1000; ++i) r.add(1e9 + i % 2);
  CHECK(r.variance() == Approx(0.25).epsilon(1e-9));
}
