#include "fidelity/statistics.hpp"

#include "catch.hpp"

#include <cmath>

using namespace servecast::fidelity;

TEST_CASE("equal values share their mean rank") {
  const std::vector<double> values = {10, 20, 20, 5};
  CHECK(ranks(values) == std::vector<double>{2, 3.5, 3.5, 1});
}

TEST_CASE("rank correlation is 1 for any rising relation and -1 for a falling one") {
  const std::vector<double> a = {1, 2, 3, 4};
  const std::vector<double> b = {1, 10, 100, 1000};
  const std::vector<double> c = {9, 7, 5, 3};
  CHECK(*spearman(a, b) == Approx(1));
  CHECK(*spearman(a, c) == Approx(-1));
}

TEST_CASE("rank correlation with ties is Pearson's of the ranks") {
  // ranks 1 2.5 2.5 4 and 1 2 3 4: covariance 4.5, variances 4.5 and 5
  const std::vector<double> a = {1, 2, 2, 3};
  const std::vector<double> b = {1, 2, 3, 4};
  CHECK(*spearman(a, b) == Approx(4.5 / std::sqrt(4.5 * 5)));
}

TEST_CASE("rank correlation of two rows, or of equal values, is not defined") {
  CHECK_FALSE(spearman(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
  CHECK_FALSE(spearman(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}));
}

TEST_CASE("accuracy is the median and the 90th percentile of absolute errors, the bias that of signed ones") {
  // errors -0.5, 0, 0.1, 0.2, 1.0: absolute 0, 0.1, 0.2, 0.5, 1.0
  const std::vector<Pair> pairs = {{50, 100}, {100, 100}, {110, 100}, {120, 100}, {200, 100}};
  const Accuracy a = accuracy_of(pairs);
  CHECK(a.count == 5);
  CHECK(a.median == Approx(0.2));
  CHECK(a.p90 == Approx(0.5 + 0.6 * 0.5));
  CHECK(a.bias == Approx(0.1));
  CHECK(a.worst == Approx(1.0));
  CHECK(accuracy_of({}).count == 0);
}
