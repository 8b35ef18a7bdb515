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

TEST_CASE("power is the mean over the states a GPU is in") {
  EnergyFacts f;
  f.power = {100, 1100, 0.75, 0.45, 0.2, 1.3};
  f.time = {0.2, 0.4, 0.1, 0.1, 0.2};  // 850, 550, 300, 130, 130 W
  f.duration = core::seconds(10);
  f.gpus = 2;
  f.overhead_w = 500;
  f.prompt_tokens = 3000;
  f.output_tokens = 1000;
  const EnergyUse use = measure_energy(f);
  CHECK(use.mean_gpu_w == Approx(0.2 * 850 + 0.4 * 550 + 0.1 * 300 + 0.3 * 130));
  CHECK(use.mean_w == Approx(2 * 459 + 500));
  CHECK(use.peak_w == Approx(2 * 850 + 500));
  CHECK(use.joules == Approx(14180));
  CHECK(use.joules_per_output_token == Approx(14.18));
  CHECK(use.joules_per_token == Approx(3.545));
}

TEST_CASE("no state draws more than the power limit") {
  EnergyFacts f;
  f.power = {140, 700, 1.5, 0.45, 0.2, 10};
  f.time = {1, 0, 0, 0, 0};
  f.gpus = 1;
  f.duration = core::seconds(1);
  CHECK(measure_energy(f).mean_w == Approx(700));
  f.time = {0, 0, 0, 0, 1};
  CHECK(measure_energy(f).mean_w == Approx(700));
}
