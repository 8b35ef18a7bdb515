#include "catch.hpp"
#include "metrics/cost.hpp"
#include "metrics/energy.hpp"

using namespace servecast;
using namespace servecast::metrics;

TEST_CASE("tokens cost the rent of every GPU divided by what was delivered") {
  // 8 GPUs x 2.5 USD/h x 0.5 h = 10 USD; 2 M output, 8 M input tokens.
  const TokenCost cost = measure_cost({8, 2.5}, core::seconds(1800), 8'000'000, 2'000'000);
  CHECK(cost.usd == Approx(10));
  CHECK(cost.usd_per_million_output_tokens == Approx(5));
  CHECK(cost.usd_per_million_input_tokens == Approx(1.25));
  CHECK(cost.usd_per_million_blended_tokens == Approx(1));
}

TEST_CASE("no tokens, no price per token") {
  CHECK(measure_cost({8, 2.5}, core::seconds(1), 0, 0).usd_per_million_output_tokens == 0);
}

TEST_CASE("energy is what waiting boards draw and what steps add") {
  EnergyFacts f;
  f.loaded_idle_w = 245;
  f.work_j = 4000;  // of 2 GPUs over 10 s: 200 W each
  f.peak_work_w = 700;
  f.duration = core::seconds(10);
  f.gpus = 2;
  f.overhead_w = 500;
  f.prompt_tokens = 3000;
  f.output_tokens = 1000;
  const EnergyUse use = measure_energy(f);
  CHECK(use.mean_gpu_w == Approx(445));
  CHECK(use.mean_w == Approx(2 * 445 + 500));
  CHECK(use.peak_w == Approx(2 * 945 + 500));
  CHECK(use.joules == Approx(13900));
  CHECK(use.joules_per_output_token == Approx(13.9));
  CHECK(use.joules_per_token == Approx(3.475));
}

TEST_CASE("GPUs that only wait draw the power of a loaded board") {
  EnergyFacts f;
  f.loaded_idle_w = 245;
  f.gpus = 1;
  f.duration = core::seconds(2);
  CHECK(measure_energy(f).mean_w == Approx(245));
  CHECK(measure_energy(f).peak_w == Approx(245));
  CHECK(measure_energy(f).joules == Approx(490));
}
