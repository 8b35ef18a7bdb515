#include "cost/kernels/profile.hpp"

#include "calibrate/profile_text.hpp"
#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "samples.hpp"

using namespace servecast;
using cost::kernels::Kernels;
using hardware::Evidence;

namespace {

cost::kernels::KernelProfile profile() {
  calibrate::Dataset data;
  data.gpu = "b200";
  data.stack = "mine-1";
  data.keys.push_back(samples::gemm_rows());
  data.curves.push_back({"all_reduce", "graph", 2, {1024, 4096}, {4, 8}});
  data.curves.push_back({"all_reduce", "graph", 8, {1024, 4096}, {16, 32}});
  std::vector<std::string> warnings;
  return calibrate::fit_profile(data, samples::gpu(), {}, warnings);
}

}  // namespace

TEST_CASE("a profile reads back as it was written") {
  const auto p = profile();
  const std::string text = calibrate::profile_text(p);
  const auto again = config::read<cost::kernels::KernelProfile>(config::Document::from_text(text, "profile"));
  CHECK(calibrate::profile_text(again) == text);
  CHECK(again.fits.at(0).physics.at(0).values == p.fits.at(0).physics.at(0).values);
  CHECK(again.fits.at(0).surfaces.at(0).residuals == p.fits.at(0).surfaces.at(0).residuals);
}

TEST_CASE("what fits on a line of a document is one line, a list of numbers shares lines") {
  CHECK(calibrate::compact_text("{\n  \"a\": [\n    1,\n    2,\n    3\n  ],\n  \"b\": 4\n}\n", 60) ==
        "{\"a\":[1,2,3],\"b\":4}\n");
  CHECK(calibrate::compact_text("{\"a\": [10, 20, 30, 40], \"b\": \"x, {\\\"y\"}", 14) ==
        "{\n \"a\":[10,20,\n  30,40],\n \"b\":\"x, {\\\"y\"\n}\n");
}

TEST_CASE("a kernel time says where it comes from") {
  const Kernels own(profile(), samples::gpu());
  const auto inside = own.gemm({64, 4096, 4096, cost::kernels::DataType::Bf16});
  REQUIRE(inside.has_value());
  CHECK(inside->seconds == Approx(1e-6 * samples::gemm_us(64, 4096, 4096)).epsilon(0.01));
  CHECK(inside->origin == Evidence::Measured);
  CHECK_FALSE(inside->extrapolated);
  CHECK(own.gemm({64, 4096, 65536, cost::kernels::DataType::Bf16})->extrapolated);
  CHECK_FALSE(own.gemm({64, 4096, 4096, cost::kernels::DataType::Nvfp4}).has_value());
  CHECK_FALSE(own.decode({.batch = 1, .heads = 8, .kv_heads = 8, .head_dim = 128, .context = 100}).has_value());
}

TEST_CASE("on another GPU every time is derived, with a wider error") {
  hardware::Gpu other = samples::gpu();
  other.name = "gb200";
  other.memory_tb_s *= 2;
  const Kernels own(profile(), samples::gpu());
  const Kernels moved(profile(), other);
  const cost::kernels::GemmShape decode{16, 16384, 16384, cost::kernels::DataType::Bf16};
  CHECK(moved.gemm(decode)->origin == Evidence::Derived);
  CHECK(moved.gemm(decode)->seconds < 0.75 * own.gemm(decode)->seconds);
  CHECK(moved.gemm(decode)->error > own.gemm(decode)->error);
}

TEST_CASE("all-reduce is measured at 2 and 8 GPUs, derived between and absent beyond") {
  const Kernels own(profile(), samples::gpu());
  CHECK(own.all_reduce(1024, 8, true)->seconds == Approx(16e-6));
  CHECK(own.all_reduce(1024, 4, true)->seconds == Approx(8e-6));
  CHECK(own.all_reduce(1024, 4, true)->origin == Evidence::Derived);
  CHECK_FALSE(own.all_reduce(1024, 16, true).has_value());
  CHECK_FALSE(own.all_reduce(1024, 8, false).has_value());
}
