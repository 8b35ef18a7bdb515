#include "catch.hpp"
#include "cost/kernels/monotone.hpp"
#include "samples.hpp"

using namespace servecast;

TEST_CASE("isotonic regression pools neighbours that fall") {
  std::vector<double> values = {1, 3, 2, 4, 0};
  cost::kernels::isotonic(values);
  CHECK(values == std::vector<double>{1, 2.25, 2.25, 2.25, 2.25});
  values = {1, 2, 3};
  cost::kernels::isotonic(values);
  CHECK(values == std::vector<double>{1, 2, 3});
}

TEST_CASE("a projected GEMM does not fall with more rows or more width at its knots") {
  auto rows = samples::gemm_rows();
  for (auto& r : rows.rows) r.us *= r.x[0] == 512 ? 3.0 : 1.0;
  const auto machine = cost::kernels::machine(samples::gpu());
  auto fit = calibrate::fit(rows.key, calibrate::all_rows(rows), machine);
  cost::kernels::make_monotone(fit, machine);
  const cost::kernels::FittedKernel kernel(fit, machine);
  const auto& axes = fit.surfaces[0].axes;
  for (const double n : axes[1])
    for (const double k : axes[2])
      for (std::size_t i = 1; i < axes[0].size(); ++i)
        CHECK(kernel.us({axes[0][i], n, k}, false) >= kernel.us({axes[0][i - 1], n, k}, false) * 0.99);
}
