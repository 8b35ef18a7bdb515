#include "calibrate/levels.hpp"

#include "catch.hpp"

using namespace servecast;
using namespace servecast::calibrate;
using cost::kernels::DataType;
using cost::kernels::Family;

namespace {

cost::kernels::Fit fit(Family family, DataType type, const char* variant, double median, double p90) {
  cost::kernels::Fit f;
  f.key.family = family;
  f.key.type = type;
  f.key.variant = variant;
  f.rows = 1000;
  f.cross_validated = {1000, median, p90};
  return f;
}

NamedProfile profile(const char* stack, const char* architecture, std::vector<cost::kernels::Fit> fits) {
  NamedProfile p;
  p.stack = stack;
  p.profile.stack = stack;
  p.profile.gpu = "gpu";
  p.profile.architecture = architecture;
  p.profile.fits = std::move(fits);
  return p;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a fit beyond its family's level is named, one within is only counted") {
  const std::string text = profiles_markdown({profile("vllm-1", "hopper",
                                                      {fit(Family::Gemm, DataType::Bf16, "", 0.03, 0.1),
                                                       fit(Family::Gemm, DataType::Fp8, "", 0.07, 0.1)})});
  CHECK(has(text, "| vllm-1 | gpu | gemm | 2 | 2,000 | 5.0 | 7.0 / 10.0 | 1 |"));
  CHECK(has(text, "| vllm-1 | gpu | gemm: fp8 | 7.0 / 10.0 | 6.5 / 20.0 |"));
  CHECK_FALSE(has(text, "gemm: bfloat16"));
  CHECK(has(text, "Median over families: 5.0 %"));
}

TEST_CASE("levels of routed experts depend on engine, architecture and routing") {
  const auto skewed = fit(Family::Moe, DataType::Fp8Block, "skewed", 0.06, 0.1);
  CHECK(level_of(profile("trtllm-1.3", "hopper", {}).profile, skewed)->median == 0.055);
  CHECK(level_of(profile("vllm-0.24", "blackwell", {}).profile, skewed)->median == 0.10);
  CHECK_FALSE(level_of(profile("vllm-0.24", "hopper", {}).profile, skewed));
  CHECK_FALSE(level_of(profile("vllm-0.24", "blackwell", {}).profile,
                       fit(Family::Moe, DataType::Fp8Block, "balanced", 0.2, 0.3)));
}
