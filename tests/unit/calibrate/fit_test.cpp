#include "catch.hpp"
#include "samples.hpp"

#include <cmath>

using namespace servecast;

TEST_CASE("the physics of rows that follow it exactly is recovered") {
  const auto rows = samples::gemm_rows();
  const auto c = cost::kernels::context(rows.key, cost::kernels::machine(samples::gpu()));
  const auto theta = calibrate::fit_physics(c, calibrate::all_rows(rows));
  const auto truth = samples::gemm_theta();
  CHECK(theta[0] == Approx(truth[0]).epsilon(0.02));
  CHECK(theta[2] == Approx(truth[2]).epsilon(0.02));
  CHECK(theta[3] == Approx(truth[3]).epsilon(0.02));
  for (const auto& r : rows.rows) CHECK(cost::kernels::physics(c, theta, r.x, false).us == Approx(r.us).epsilon(0.01));
}

TEST_CASE("a fit predicts rows it has not seen, and keeps to the bounds of its parameters") {
  const auto rows = samples::gemm_rows();
  const auto machine = cost::kernels::machine(samples::gpu());
  const auto fit = calibrate::fit(rows.key, calibrate::all_rows(rows), machine);
  CHECK(fit.rows == 208);
  CHECK(fit.in_sample.p90 < 0.01);
  CHECK(fit.measured[0].min == 4);
  CHECK(fit.measured[0].max == 16384);
  const cost::kernels::FittedKernel kernel(fit, machine);
  CHECK(kernel.us({100, 2048, 2048}, false) == Approx(samples::gemm_us(100, 2048, 2048)).epsilon(0.02));
  CHECK(kernel.inside({100, 2048, 2048}));
  CHECK_FALSE(kernel.inside({100, 2048, 32768}));
  const auto parameters = info(cost::kernels::Family::Gemm).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    CHECK(fit.physics[0].values[i] >= parameters[i].low * 0.999);
    CHECK(fit.physics[0].values[i] <= parameters[i].high * 1.001);
  }
}

TEST_CASE("surfaces carry what the physics does not") {
  auto rows = samples::gemm_rows();
  for (auto& r : rows.rows) r.us *= r.x[0] > 200 ? 1.5 : 1.0;
  const auto fit = calibrate::fit(rows.key, calibrate::all_rows(rows), cost::kernels::machine(samples::gpu()));
  CHECK(fit.in_sample.median < 0.02);
}

TEST_CASE("one row in twenty ten times too slow moves the fit of the others little") {
  auto rows = samples::gemm_rows();
  for (std::size_t i = 0; i < rows.rows.size(); i += 20) rows.rows[i].us *= 10;
  const auto fit = calibrate::fit(rows.key, calibrate::all_rows(rows), cost::kernels::machine(samples::gpu()));
  CHECK(fit.in_sample.median < 0.02);
}

TEST_CASE("cross-validation predicts every row by a fit without its group") {
  const auto rows = samples::gemm_rows();
  const auto predicted = calibrate::cross_validate(rows, cost::kernels::machine(samples::gpu()));
  REQUIRE(predicted.size() == rows.rows.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) CHECK(predicted[i] == Approx(rows.rows[i].us).epsilon(0.15));
}

TEST_CASE("the same rows give the same fit, to the bit") {
  const auto rows = samples::gemm_rows();
  const auto machine = cost::kernels::machine(samples::gpu());
  const auto a = calibrate::fit(rows.key, calibrate::all_rows(rows), machine);
  const auto b = calibrate::fit(rows.key, calibrate::all_rows(rows), machine);
  CHECK(a.physics[0].values == b.physics[0].values);
  CHECK(a.surfaces[0].residuals == b.surfaces[0].residuals);
}
