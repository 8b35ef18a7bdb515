#include "core/random.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace servecast::core;

namespace {

using Words = std::array<std::uint32_t, 4>;

Running moments_of(const std::function<double()>& draw, int n = 200'000) {
  Running r;
  for (int i = 0; i < n; ++i) r.add(draw());
  return r;
}

// Means of n draws lie within 4 standard errors with probability 0.99994; seeds are fixed.
void check_mean(const Running& r, double mean, double deviation) {
  CHECK(std::abs(r.mean() - mean) < 4 * deviation / std::sqrt(static_cast<double>(r.count())));
}

double normal_law(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("Philox gives its published known answers") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox4x32_10({ones, ones, ones, ones}, {ones, ones}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("splitmix64 gives its published known answers") {
  std::uint64_t state = 0;
  CHECK(splitmix64(state) == 0xe220a8397b1dcdafu);
  CHECK(splitmix64(state) == 0x6e789e6aa1b965f4u);
  CHECK(splitmix64(state) == 0x06c45d188009454fu);
  state = 1234567;
  CHECK(splitmix64(state) == 6457827717110365317u);
  CHECK(splitmix64(state) == 3203168211198807973u);
  CHECK(splitmix64(state) == 9817491932198370423u);
}

TEST_CASE("a stream is a function of seed and name alone") {
  Random a(1, "workload/arrivals");
  Random again(1, "workload/arrivals");
  Random other_name(1, "workload/lengths");
  Random other_seed(2, "workload/arrivals");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    CHECK(x == again.next());
    CHECK(x != other_name.next());
    CHECK(x != other_seed.next());
  }
  CHECK(a.draws() == 100);
}

TEST_CASE("names that are prefixes of each other or differ in one byte give other streams") {
  const std::vector<std::string_view> names = {
      "", "a", "aa", "b", "replica/1/x", "replica/11/x", std::string_view("\0", 1)};
  std::vector<std::uint64_t> firsts;
  for (const std::string_view name : names) firsts.push_back(Random(0, name).next());
  std::sort(firsts.begin(), firsts.end());
  CHECK(std::adjacent_find(firsts.begin(), firsts.end()) == firsts.end());
}

TEST_CASE("uniform draws have the moments of the uniform law and stay inside") {
  Random random(7, "uniform");
  const Running r = moments_of([&] { return random.uniform(); });
  check_mean(r, 0.5, std::sqrt(1.0 / 12));
  CHECK(r.variance() == Approx(1.0 / 12).epsilon(0.01));
  CHECK(r.min() >= 0);
  CHECK(r.max() < 1);
  const Running open = moments_of([&] { return random.uniform_open(); });
  CHECK(open.min() > 0);
  CHECK(open.max() < 1);
}

TEST_CASE("below is unbiased over a range that does not divide 2^64") {
  Random random(3, "below");
  std::vector<int> counts(6);
  for (int i = 0; i < 60'000; ++i) ++counts[random.below(6)];
  double chi2 = 0;
  for (const int count : counts) chi2 += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
  CHECK(chi2 < 20.5);  // 5 degrees, 0.999
  // The middle of the range is where a biased method errs by half: 2/3 of 2^64.
  const std::uint64_t n = 0xAAAAAAAAAAAAAAAAu;
  const Running r = moments_of([&] { return static_cast<double>(random.below(n)) / static_cast<double>(n); });
  check_mean(r, 0.5, std::sqrt(1.0 / 12));
  CHECK(random.below(1) == 0);
  CHECK_THROWS_AS(random.below(0), LogicError);
}

TEST_CASE("exponential, normal, lognormal and Weibull draws have the moments of their laws") {
  Random random(11, "laws");
  const Running exponential = moments_of([&] { return random.exponential(3.0); });
  check_mean(exponential, 3.0, 3.0);
  CHECK(exponential.deviation() == Approx(3.0).epsilon(0.02));
  const Running normal = moments_of([&] { return random.normal(); });
  check_mean(normal, 0.0, 1.0);
  CHECK(normal.deviation() == Approx(1.0).epsilon(0.01));
  const double sigma = 0.5;
  const double mean = std::exp(0.2 + sigma * sigma / 2);
  const Running lognormal = moments_of([&] { return random.lognormal(0.2, sigma); });
  check_mean(lognormal, mean, mean * std::sqrt(std::expm1(sigma * sigma)));
  const Running weibull = moments_of([&] { return random.weibull(2.0, 1.5); });
  const double weibull_mean = 1.5 * std::tgamma(1.5);
  check_mean(weibull, weibull_mean, std::sqrt(1.5 * 1.5 * std::tgamma(2.0) - weibull_mean * weibull_mean));
}

TEST_CASE("gamma draws have mean shape x scale and variance shape x scale^2 on both sides of shape 1") {
  for (const double shape : {0.05, 0.5, 1.0, 2.5, 40.0}) {
    CAPTURE(shape);
    Random random(13, "gamma");
    const Running r = moments_of([&] { return random.gamma(shape, 2.0); });
    check_mean(r, 2.0 * shape, 2.0 * std::sqrt(shape));
    CHECK(r.variance() == Approx(4.0 * shape).epsilon(0.06));
    CHECK(r.min() >= 0);
  }
}

TEST_CASE("the normal quantile inverts the normal law to 1e-9") {
  CHECK(normal_quantile(0.5) == 0.0);
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
  CHECK(normal_quantile(1e-300) == Approx(-37.0471).epsilon(1e-5));
  for (double x = -8.0; x <= 0.0; x += 1.0 / 64) {
    const double p = normal_law(x);
    const double back = normal_quantile(p);
    CHECK(std::abs(back - x) < 1e-9);
    if (x > -5) CHECK(std::abs(normal_quantile(1 - p) + x) < 1e-9);
  }
  CHECK_THROWS_AS(normal_quantile(0.0), LogicError);
  CHECK_THROWS_AS(normal_quantile(1.0), LogicError);
}
