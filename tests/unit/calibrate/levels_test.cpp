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
  const std::string text = profiles_markdown(
      {profile("vllm-0.19.0", "hopper",
               {fit(Family::Gemm, DataType::Bf16, "", 0.03, 0.1), fit(Family::Gemm, DataType::Fp8, "", 0.07, 0.1)})});
  CHECK(has(text, "| vllm-0.19.0 | gpu | gemm | 2 | 2,000 | 5.0 | 7.0 / 10.0 | 1 |"));
  CHECK(has(text, "| vllm-0.19.0 | gpu | gemm: fp8 | 7.0 / 10.0 | 6.5 / 20.0 |"));
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

TEST_CASE("fits outside the study are named apart, and slow tactics listed") {
  auto tuned = fit(Family::Moe, DataType::Bf16, "skewed", 0.09, 0.7);
  tuned.sound_tactics = {900, 0.06, 0.18};
  tuned.slow_curves = {"4096 x 1024, 8 of 256, alpha 1.2: tp2 ep4 4.0"};
  const std::string text =
      profiles_markdown({profile("trtllm-1.3.0rc20", "hopper", {tuned}),
                         profile("sglang-0.5.14", "blackwell", {fit(Family::Gemm, DataType::Fp8, "", 0.07, 0.1)})});
  CHECK_FALSE(has(text, "moe: bfloat16"));  // within its level without the slow curve
  CHECK(has(text, "bfloat16, skewed (all rows 9.0 / 70.0, without these 6.0 / 18.0):\n\n- 4096 x 1024"));
  const auto apart = text.find("where the study has none");
  CHECK(text.find("| sglang-0.5.14 | gpu | gemm: fp8 |") > apart);
}

TEST_CASE("MLA decode is held against its level as the mean of a profile's fits") {
  const auto p = profile("trtllm-1.3.0rc20", "hopper",
                         {fit(Family::MlaDecode, DataType::Bf16, "kernel", 0.03, 0.15),
                          fit(Family::MlaDecode, DataType::Bf16, "module", 0.02, 0.05)});
  CHECK(judged(p.profile, p.profile.fits[0]).p90 == Approx(0.10));
  CHECK(within_study(p.profile, p.profile.fits[0].key));
}
