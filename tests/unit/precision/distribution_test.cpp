#include "precision/distribution.hpp"

#include "catch.hpp"

#include <cmath>
#include <set>

using namespace servecast::precision;

TEST_CASE("distributions are read by name, Student's with its degrees of freedom") {
  CHECK(parse_distribution("gaussian")->law == Law::Gaussian);
  CHECK(parse_distribution("laplace")->law == Law::Laplace);
  CHECK(parse_distribution("student-t")->freedom == 5.0);
  CHECK(parse_distribution("student-t:3.5")->freedom == 3.5);
  for (const char* bad : {"", "normal", "gaussian:2", "student-t:", "student-t:0.5", "student-t:3x", "student-t:nan"}) {
    INFO(bad);
    CHECK_FALSE(parse_distribution(bad).has_value());
  }
  CHECK(text(*parse_distribution("student-t:3")) == "student-t:3");
  CHECK(text({Law::Gaussian, 5, 0.01, 20}) == "gaussian, 1 % of columns x 20");
}

TEST_CASE("draws depend on seed and purpose alone") {
  const Distribution d{Law::StudentT, 4, 0.1, 10};
  CHECK(draw(d, 3, 40, 1, "a") == draw(d, 3, 40, 1, "a"));
  CHECK(draw(d, 3, 40, 1, "a") != draw(d, 3, 40, 2, "a"));
  CHECK(draw(d, 3, 40, 1, "a") != draw(d, 3, 40, 1, "b"));
  const std::vector<float> plain = draw({Law::StudentT, 4, 0, 1}, 3, 40, 1, "a");
  const std::vector<float> loud = draw(d, 3, 40, 1, "a");
  std::set<std::size_t> changed;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == loud[i]) continue;
    CHECK(loud[i] == Approx(10.0F * plain[i]));
    changed.insert(i % 40);
  }
  CHECK(changed.size() == 4);
}

TEST_CASE("a small share of columns is at least one column") {
  const std::vector<float> plain = draw({}, 2, 8, 1, "a");
  const std::vector<float> loud = draw({Law::Gaussian, 5, 0.001, 100}, 2, 8, 1, "a");
  int changed = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) changed += plain[i] != loud[i] ? 1 : 0;
  CHECK(changed == 2);
}

TEST_CASE("moments of the laws") {
  const auto mean_square = [](const Distribution& d) {
    double sum = 0;
    const std::vector<float> values = draw(d, 64, 4096, 1, "moments");
    for (const float x : values) sum += static_cast<double>(x) * static_cast<double>(x);
    return sum / static_cast<double>(values.size());
  };
  CHECK(mean_square({}) == Approx(1.0).epsilon(0.01));
  CHECK(mean_square({Law::Laplace, 5, 0, 1}) == Approx(2.0).epsilon(0.02));
  CHECK(mean_square({Law::StudentT, 10, 0, 1}) == Approx(10.0 / 8.0).epsilon(0.02));
}
