#include "catch.hpp"
#include "precision/compare_schemes.hpp"
#include "precision/distribution.hpp"
#include "precision/quantisation_error.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <string>

using namespace servecast::precision;

namespace {

std::map<std::string, SchemeResult> results_of(const Distribution& d, std::int64_t rows = 128) {
  const std::vector<float> values = draw(d, rows, 4096, 1, "tensor");
  std::map<std::string, SchemeResult> out;
  for (const SchemeResult& r : compare_schemes({values, rows, 4096}, schemes(), 1).results)
    out.emplace(std::string(r.scheme.name), r);
  return out;
}

double db(const std::map<std::string, SchemeResult>& r, const char* name) { return r.at(name).error.sqnr_db.value(); }

}  // namespace

TEST_CASE("signal over noise, the largest error and flushed values, by hand") {
  const std::vector<float> x = {4, 3, 0, 1};
  const std::vector<float> y = {4, 2, 0, 0};
  const QuantisationError e = quantisation_error({x, 2, 2}, y);
  CHECK(e.sqnr_db.value() == Approx(10.0 * std::log10(26.0 / 2.0)));
  CHECK(e.max_error == Approx(1.0 / std::sqrt(26.0 / 4.0)));
  CHECK(e.flushed == 0.25);
  CHECK(e.lost == 0.0);
  // Columns: (4, 0) is exact, (3, 1) has a noise of 2 over 10: 0.1 on average.
  CHECK(e.column_sqnr_db.value() == Approx(10.0));
  CHECK_FALSE(quantisation_error({x, 2, 2}, x).sqnr_db.has_value());
}

TEST_CASE("values that are not finite are counted, not summed") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1, infinity, 2, 3};
  const std::vector<float> y = {1, 5, std::nanf(""), 2};
  const QuantisationError e = quantisation_error({x, 1, 4}, y);
  CHECK(e.lost == 0.25);
  CHECK(e.sqnr_db.value() == Approx(10.0));
  CHECK(range_statistics(x).infinite == 1);
  CHECK(range_statistics(x).amax == 3.0);
}

TEST_CASE("range statistics do not overflow and know a Gaussian's kurtosis") {
  const float most = std::numeric_limits<float>::max();
  const RangeStatistics s = range_statistics(std::vector<float>{most, -most});
  CHECK(s.kurtosis == 1.0);
  CHECK(s.rms == static_cast<double>(most));
  CHECK(range_statistics(draw({}, 64, 4096, 1, "k")).kurtosis == Approx(3.0).epsilon(0.02));
  CHECK(range_statistics(draw({Law::Laplace, 5, 0, 1}, 64, 4096, 1, "k")).kurtosis == Approx(6.0).epsilon(0.05));
}

TEST_CASE("the cosine of a product is 1 for what is equal and absent for one row") {
  const std::vector<float> m = {1, 2, 3, 4};
  const std::vector<float> x = {1, 1};
  CHECK(product_cosine({m, 2, 2}, x, {m, 2, 2}, x).value() == Approx(1.0));
  const std::vector<float> other = {-1, -2, -3, -4};
  CHECK(product_cosine({m, 2, 2}, x, {other, 2, 2}, x).value() == Approx(-1.0));
  CHECK_FALSE(product_cosine({m, 1, 4}, m, {m, 1, 4}, m).has_value());
  const std::vector<float> zero(2, 0.0F);
  CHECK_FALSE(product_cosine({m, 2, 2}, zero, {m, 2, 2}, x).has_value());
}

TEST_CASE("Gaussian values: NVFP4 20.4 dB, MXFP4 18.8 dB, E4M3 31.5 dB") {
  const auto r = results_of({});
  CHECK(std::abs(db(r, "nvfp4") - 20.4) <= 0.15);
  CHECK(std::abs(db(r, "mxfp4") - 18.8) <= 0.15);
  CHECK(std::abs(db(r, "fp8") - 31.5) <= 0.15);
  CHECK(r.at("nvfp4").bits == Approx(4.5).epsilon(1e-4));
  CHECK(r.at("mxfp4").bits == 4.25);
  CHECK(r.at("fp8").bits == Approx(8.0).epsilon(1e-4));
}

TEST_CASE("Laplace and Student-t values: NVFP4 20.7 dB, MXFP4 18.0 dB, E4M3 31.5 dB") {
  for (const Law law : {Law::Laplace, Law::StudentT}) {
    const std::vector<float> values = draw({law, 5, 0, 1}, 512, 4096, 1, "tensor");
    const auto measured = [&](const char* name) {
      const std::vector<Scheme> one = {find_scheme(name).value()};
      return compare_schemes({values, 512, 4096}, one, 1).results[0].error.sqnr_db.value();
    };
    CHECK(std::abs(measured("nvfp4") - 20.67) <= 0.25);
    CHECK(std::abs(measured("mxfp4") - 17.97) <= 0.25);
    CHECK(std::abs(measured("fp8") - 31.53) <= 0.15);
  }
}

TEST_CASE("every bit of mantissa is worth 6 dB") {
  // Law beside the golden values: half the step, a quarter of the noise power.
  const auto r = results_of({});
  const double bit = 20.0 * std::log10(2.0);
  CHECK(db(r, "fp8") - db(r, "fp8_e5m2") == Approx(bit).margin(0.1));
  CHECK(db(r, "bf16") - db(r, "fp8") == Approx(4 * bit).margin(0.1));
  CHECK(db(r, "fp16") - db(r, "bf16") == Approx(3 * bit).margin(0.1));
  // A value in [1, 2) of a step of 1/8 has between 768 and four times as much signal over noise.
  CHECK(db(r, "fp8") > 10.0 * std::log10(768.0));
  CHECK(db(r, "fp8") < 10.0 * std::log10(4.0 * 768.0));
}

TEST_CASE("INT8 noise is that of a uniform step") {
  const std::vector<float> values = draw({}, 64, 4096, 1, "tensor");
  const RangeStatistics s = range_statistics(values);
  const double step = s.amax / 127.0;
  const auto r = compare_schemes({values, 64, 4096}, std::vector<Scheme>{find_scheme("int8").value()}, 1).results[0];
  CHECK(r.error.sqnr_db.value() == Approx(10.0 * std::log10(s.rms * s.rms * 12.0 / (step * step))).margin(0.05));
}

TEST_CASE("block scales keep outlier channels from flushing the others") {
  const auto r = results_of({Law::Gaussian, 5, 0.01, 20});
  CHECK(r.at("fp4_tensor").error.flushed > 0.9);
  CHECK(r.at("nvfp4").error.flushed < 0.3);
  // Outliers are one column in a hundred, and spoil the fifteen others of their block.
  CHECK(r.at("nvfp4").error.column_sqnr_db.value() > r.at("fp4_tensor").error.column_sqnr_db.value() + 5.0);
  // A block of 32 holds an outlier more often than one of 16.
  CHECK(r.at("mxfp4").error.flushed > r.at("nvfp4").error.flushed);
  CHECK(r.at("fp8").error.column_sqnr_db.value() > 30.0);
}

TEST_CASE("products of quantised operands point the same way, the more bits the closer") {
  const auto r = results_of({});
  double before = 0.9;
  for (const char* name : {"mxfp4", "nvfp4", "fp8_e5m2", "fp8", "bf16", "fp32"}) {
    const double cosine = r.at(name).cosine.value();
    INFO(name);
    CHECK(cosine > before);
    before = cosine;
  }
}
