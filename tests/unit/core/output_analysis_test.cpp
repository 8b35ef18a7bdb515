#include "core/output_analysis.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <cmath>
#include <vector>

using namespace servecast::core;

TEST_CASE("MSER drops two batch means of the known example") {
  const std::vector<double> means = {10, 5, 2, 3, 2, 3, 2, 3, 2, 3};
  const Truncation result = mser(means);
  CHECK(result.drop == 2);
  CHECK(result.conclusive);
}

TEST_CASE("MSER-5 drops ten observations of the known example") {
  std::vector<double> observations;
  for (const double mean : {10, 5, 2, 3, 2, 3, 2, 3, 2, 3}) {
    for (const double off : {-1.0, 1.0, 0.0, 0.5, -0.5}) observations.push_back(mean + off);
  }
  CHECK(mser5(observations).drop == 10);
}

TEST_CASE("MSER keeps a steady run whole and calls a drifting one inconclusive") {
  const std::vector<double> steady(40, 3.0);
  CHECK(mser(steady).drop == 0);
  CHECK(mser(steady).conclusive);
  std::vector<double> drifting;
  for (int i = 0; i < 40; ++i) drifting.push_back(std::exp(0.3 * i));
  std::vector<double> falling(drifting.rbegin(), drifting.rend());
  CHECK_FALSE(mser(falling).conclusive);
  CHECK_FALSE(mser5(std::vector<double>{1, 2, 3}).conclusive);
}

TEST_CASE("the interval of batch means covers the true mean about 95 times in 100") {
  Random random(23, "coverage");
  int covered = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<double> values;
    for (int i = 0; i < 500; ++i) values.push_back(random.exponential(2.0));
    const auto interval = batch_means_interval(values, 25);
    REQUIRE(interval);
    covered += std::abs(interval->mean - 2.0) <= interval->half_width ? 1 : 0;
  }
  CHECK(covered >= 364);  // 380 +- 4 standard deviations, and a little skew
  CHECK(covered <= 396);
}

TEST_CASE("batch means equal a calculation by hand and show correlation") {
  // Batches of 2: means 1, 2, 3, 4; mean 2.5, sample deviation 1.29099, t(3) = 3.182.
  const std::vector<double> values = {99, 1, 1, 2, 2, 3, 3, 4, 4};
  const auto interval = batch_means_interval(values, 4);
  REQUIRE(interval);
  CHECK(interval->mean == 2.5);
  CHECK(interval->half_width == Approx(3.182 * 1.2909944487 / 2));
  // Lag 1: (-1.5)(-0.5) + (-0.5)(0.5) + (0.5)(1.5) = 1.25 over 5.
  CHECK(interval->lag1_correlation == Approx(0.25));
  CHECK_FALSE(batch_means_interval(std::vector<double>(49), 25));
}

TEST_CASE("a quantile's interval takes the ranks around it") {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  // n q = 50, reach 1.96 * 5 = 9.8: ranks floor(40.2) = 40 and ceil(59.8) + 1 = 61.
  const auto interval = quantile_interval(values, 0.5);
  REQUIRE(interval);
  CHECK(interval->low == 40);
  CHECK(interval->high == 61);
  CHECK_FALSE(quantile_interval(values, 0.99));
}

TEST_CASE("Student's t joins its table to the expansion") {
  CHECK(student_t95(1) == 12.706);
  CHECK(student_t95(24) == 2.064);
  CHECK(student_t95(31) == Approx(2.0395).epsilon(1e-4));
  CHECK(student_t95(60) == Approx(2.0003).epsilon(1e-4));
  CHECK(student_t95(1'000'000) == Approx(1.95996).epsilon(1e-5));
  CHECK_THROWS_AS(student_t95(0), LogicError);
}
