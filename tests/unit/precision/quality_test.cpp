#include "precision/quality.hpp"

#include "catch.hpp"

#include <array>

using namespace servecast::precision;

TEST_CASE("the sample repeats what a large Gaussian tensor gives") {
  CHECK(quality_db(Format::Nvfp4, {}) == Approx(20.4).margin(0.15));
  CHECK(quality_db(Format::Mxfp4, {}) == Approx(18.8).margin(0.15));
  CHECK(quality_db(Format::Fp8, {}) == Approx(31.5).margin(0.15));
  CHECK(quality_db(Format::BFloat16, {}) == Approx(55.6).margin(0.15));
  CHECK(quality_db(Format::Float32, {}) == most_quality_db);
}

TEST_CASE("outlier channels cost FP4 more than FP8, the more of them the more") {
  const std::array<double, 4> shares = {0, 0.001, 0.005, 0.02};
  double before = 100;
  for (const double share : shares) {
    const Distribution d{Law::Gaussian, 5, share, share > 0 ? 20.0 : 1.0};
    const double four = quality_db(Format::Nvfp4, d);
    INFO(share);
    CHECK(four < before);
    before = four;
    CHECK(quality_db(Format::Fp8, d) > 31.0);
  }
  // One column in 50 spoils the 15 beside it: 1 - 0.98^16 = 0.28 of all. Their least step is 20 |z| x 0.5 / 6 of an
  // outlier 20 z, its noise step^2 / 12 = 0.23 of their power: 0.064 and the usual 0.009, 11.4 dB.
  CHECK(before == Approx(11.4).margin(1.0));
}

TEST_CASE("a table remembers") {
  QualityTable table;
  const Distribution d{Law::Laplace, 5, 0.01, 20};
  CHECK(table.at(Format::Nvfp4, d) == quality_db(Format::Nvfp4, d));
  CHECK(table.at(Format::Nvfp4, d) == table.at(Format::Nvfp4, d));
  CHECK(table.at(Format::Fp8, d) != table.at(Format::Nvfp4, d));
  CHECK(table.at(Format::Nvfp4, {}) != table.at(Format::Nvfp4, d));
}
