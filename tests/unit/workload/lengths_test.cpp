#include "workload/lengths.hpp"

#include "catch.hpp"
#include "core/random.hpp"

#include <cmath>

using namespace servecast;
using namespace servecast::workload;

namespace {

std::vector<std::string> breaches(const LengthConfig& c) {
  std::vector<std::string> found;
  check(c,
        [&](std::string_view key, const std::string& message) { found.push_back(std::string(key) + ": " + message); });
  return found;
}

LengthConfig lognormal_by(double mean, double p99) {
  LengthConfig c;
  c.distribution = Distribution::Lognormal;
  c.mean = mean;
  c.p99 = p99;
  return c;
}

}  // namespace

TEST_CASE("a fixed length is always the same") {
  LengthConfig c;
  c.value = 128;
  const Lengths lengths(c);
  CHECK(lengths.at(0.001) == 128);
  CHECK(lengths.at(0.999) == 128);
}

TEST_CASE("a uniform length takes each value of its range alike") {
  LengthConfig c;
  c.distribution = Distribution::Uniform;
  c.min = 10;
  c.max = 13;
  const Lengths lengths(c);
  CHECK(lengths.at(0.0001) == 10);
  CHECK(lengths.at(0.2499) == 10);
  CHECK(lengths.at(0.2501) == 11);
  CHECK(lengths.at(0.9999) == 13);
  CHECK(lengths.mean() == Approx(11.5));
}

TEST_CASE("a lognormal takes the smaller sigma of its mean and p99") {
  // s^2 / 2 - z s + ln(p99 / mean) = 0 at the solution; the larger root is 2 z - s.
  const double s = lognormal_sigma(1155, 4142).value();
  CHECK(s * s / 2 - 2.3263478740408408 * s + std::log(4142.0 / 1155) == Approx(0).margin(1e-12));
  CHECK(s < 2.3263478740408408);
  CHECK(lognormal_sigma(100, 100).value() == Approx(0).margin(1e-12));
}

TEST_CASE("a lognormal has its mean and its 99th percentile") {
  const Lengths lengths(lognormal_by(1155, 4142));
  CHECK(lengths.mean() == Approx(1155).epsilon(0.002));
  CHECK(lengths.at(0.99) == Approx(4142).margin(1));
  core::Random random(3, "workload/input");
  double sum = 0;
  for (int i = 0; i < 200000; ++i) sum += lengths.at(random.uniform_open());
  CHECK(sum / 200000 == Approx(1155).epsilon(0.01));
}

TEST_CASE("tabulated quantiles are within 1e-4 sigma of the exact ones, and never fall") {
  const LengthConfig c = lognormal_by(1e7, 8e7);
  const Lengths lengths(c);
  const Lognormal law = lognormal(c);
  double worst = 0;
  std::int32_t last = 0;
  for (int i = 1; i < 400000; ++i) {
    const double u = i / 400000.0;
    const double exact = std::exp(law.mu + law.sigma * core::normal_quantile(u));
    const std::int32_t got = lengths.at(u);
    REQUIRE(got >= last);
    last = got;
    worst = std::max(worst, (std::abs(got - exact) - 0.5) / exact);
  }
  CHECK(worst < 1e-4 * law.sigma);
}

TEST_CASE("bounds redraw: the law inside them keeps its proportions") {
  LengthConfig c = lognormal_by(200, 1000);
  c.min = 50;
  c.max = 400;
  const Lengths bounded(c);
  CHECK(bounded.at(1e-9) == 50);
  CHECK(bounded.at(1 - 1e-9) == 400);
  const Lengths free(lognormal_by(200, 1000));
  core::Random random(5, "test");
  double kept = 0;
  double sum = 0;
  for (int i = 0; i < 300000; ++i) {
    const std::int32_t length = free.at(random.uniform_open());
    if (length < 50 || length > 400) continue;
    kept += 1;
    sum += length;
  }
  CHECK(bounded.mean() == Approx(sum / kept).epsilon(0.005));
}

TEST_CASE("a p99 that no lognormal of the mean can have is refused with the reason") {
  CHECK(breaches(lognormal_by(100, 1600)) ==
        std::vector<std::string>{"p99: p99 1600 does not go with mean 100: a lognormal law of that mean has its p99 "
                                 "between 100 and 1496.84; change one of them, give sigma, or take another "
                                 "distribution"});
  CHECK(breaches(lognormal_by(100, 1496.84)).empty());
  CHECK(breaches(lognormal_by(100, 90)).size() == 1);
  CHECK(breaches(lognormal_by(100, 1490)).empty());
}

TEST_CASE("empirical values occur by weight, a weight of 0 never") {
  LengthConfig c;
  c.distribution = Distribution::Empirical;
  c.values = {10, 20, 30, 40};
  c.weights = {1, 0, 3, 0};
  const Lengths lengths(c);
  CHECK(lengths.at(0.2499) == 10);
  CHECK(lengths.at(0.25) == 30);
  CHECK(lengths.at(0.999999) == 30);
  CHECK(lengths.mean() == Approx(25));
  c.max = 15;
  CHECK(Lengths(c).mean() == 10);
}

TEST_CASE("points of a cumulative distribution are joined by lines") {
  LengthConfig c;
  c.distribution = Distribution::Empirical;
  c.points = {{100, 0.2}, {200, 0.6}, {1000, 1}};
  const Lengths lengths(c);
  CHECK(lengths.at(0.1) == 100);
  CHECK(lengths.at(0.4) == 150);
  CHECK(lengths.at(0.8) == 600);
  c.min = 200;
  CHECK(breaches(c).empty());
  CHECK(Lengths(c).at(1e-6) == 200);
  CHECK(Lengths(c).at(0.5) == 598);  // halfway from 0.598, the law at 199.5, to 1
}

TEST_CASE("zipf popularity falls as the power of the rank") {
  const WeightedChoice choice(WeightedChoice::zipf(3, 1));  // 6/11, 3/11, 2/11
  CHECK(choice.at(0.545) == 0);
  CHECK(choice.at(0.546) == 1);
  CHECK(choice.at(0.818) == 1);
  CHECK(choice.at(0.819) == 2);
}

TEST_CASE("keys of another distribution and missing ones are named") {
  LengthConfig c;
  CHECK(breaches(c) == std::vector<std::string>{"value: distribution fixed needs value"});
  c.value = 3;
  c.p99 = 9;
  CHECK(breaches(c) == std::vector<std::string>{"p99: p99 belongs to distribution lognormal, not fixed"});
  LengthConfig u;
  u.distribution = Distribution::Uniform;
  u.min = 9;
  u.max = 3;
  CHECK(breaches(u) == std::vector<std::string>{"min: min 9 is above max 3"});
  LengthConfig e;
  e.distribution = Distribution::Empirical;
  CHECK(breaches(e).size() == 1);
  e.values = {1, 2};
  e.weights = {1};
  CHECK(breaches(e) == std::vector<std::string>{"weights: the numbers of weights (1) and values (2) differ"});
}

TEST_CASE("a sigma that leaves nothing of the mean is refused with the possible range") {
  LengthConfig c;
  c.distribution = Distribution::Lognormal;
  c.mean = 1000;
  c.sigma = 8;
  CHECK(breaches(c) == std::vector<std::string>{"sigma: sigma 8 puts the median of a mean of 1000 below half a token; "
                                                "from 0 to 3.89 is possible"});
  c.sigma = 3.89;
  CHECK(breaches(c).empty());
}
