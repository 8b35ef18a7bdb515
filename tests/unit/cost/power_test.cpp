#include "cost/power.hpp"

#include "catch.hpp"
#include "cost/compiled.hpp"
#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace servecast;
using namespace servecast::cost;

namespace {

constexpr double peak = 2250e12;
constexpr double hbm = 7.672e12;

hardware::Gpu b200() {
  hardware::Gpu g = samples::b200();
  g.tdp_w = 1000;
  return g;
}

Power power(double limit_w = 1000) { return {hardware::power_facts(b200()), limit_w}; }

// Board power of one second of arithmetic and traffic at these rates, below the clock's control.
double watts(double flops, double bytes) {
  const Power p = power();
  const WorkEnergy work = {flops * p.flop_j(Rate::Bf16), bytes * p.memory_j()};
  return p.facts().loaded_idle_w + std::min(p.most_w(), p.active_w() + p.joules(work, 1));
}

// A matrix multiplication that reaches a share of the peak streams weights up to about 30 %, then reads them less
// often.
double gemm_watts(double share) {
  const double traffic = share <= 0.3 ? 0.83 * hbm : 0.83 * hbm * (0.3 / share) * (0.3 / share);
  return watts(share * peak, traffic);
}

StepTime step_of(const hardware::Gpu& gpu, std::optional<double> limit_w, const StepShape& shape) {
  const model::Architecture a = samples::llama_70b();
  StepModelInput in = samples::input(a, gpu);
  in.device.power_limit_w = limit_w;
  return StepModel(in).step(shape);
}

StepShape prefilling() {
  StepShape s;
  s.prefill_tokens = 8192;
  s.prefill_requests = s.sampled_rows = 1;
  return s;
}

StepShape decoding() {
  StepShape s;
  s.decode_requests = s.sampled_rows = 16;
  s.decode_context = 16 * 4000;
  return s;
}

}  // namespace

TEST_CASE("matrix multiplications and attention draw what was measured on a B200") {
  for (const auto& [share, measured] : {std::pair(0.03, 509.0),
                                        {0.075, 560.0},
                                        {0.15, 661.0},
                                        {0.25, 781.0},
                                        {0.35, 856.0},
                                        {0.45, 920.0},
                                        {0.55, 969.0},
                                        {0.65, 981.0}}) {
    CAPTURE(share);
    CHECK(gemm_watts(share) == Approx(measured).epsilon(0.07));
  }
  for (const double share : {0.55, 0.6, 0.65, 0.7}) {
    CHECK(gemm_watts(share) >= 970);
    CHECK(gemm_watts(share) <= 990);
  }
  CHECK(watts(0, 0.7 * hbm) == Approx(442).epsilon(0.12));
  CHECK(watts(0, 0.9 * hbm) == Approx(577).epsilon(0.12));
}

TEST_CASE("a sustained matrix multiplication runs 12 per cent below its burst") {
  const Power p = power();
  const ClockedTime burst = {1.0, 0, 0};
  const WorkEnergy work = {1568e12 * p.flop_j(Rate::Bf16), 1e12 * p.memory_j()};
  CHECK(p.settled({&burst, 1}, work, 1000).clock == Approx(0.88).margin(0.01));
}

TEST_CASE("the board's own limit slows nothing, a lower one slows arithmetic by the clock") {
  const Power p = power(700);
  const ClockedTime arithmetic = {1.0, 0, 0};
  const WorkEnergy work = {1568e12 * p.flop_j(Rate::Bf16), 0};
  CHECK_FALSE(power().limited());
  const Slowdown s = p.slowdown({&arithmetic, 1}, work);
  CHECK(s.compute > 1.2);
  CHECK(s.all == 1);
  // Power at the settled clock is the limit.
  const Slowdown at = p.settled({&arithmetic, 1}, work, 700);
  const double seconds = 1 / at.clock;
  const double drawn = p.facts().loaded_idle_w + p.active_w() * std::pow(at.clock, p.facts().clock_exponent) +
                       p.joules(work, at.clock) / seconds;
  CHECK(drawn == Approx(700 * p.facts().regulated).epsilon(1e-6));
}

TEST_CASE("a lower limit slows steps of arithmetic and leaves streams alone") {
  const StepTime prefill = step_of(b200(), {}, prefilling());
  const StepTime decode = step_of(b200(), {}, decoding());
  CHECK(step_of(b200(), 1000, prefilling()).total == prefill.total);
  CHECK(step_of(b200(), 1000, decoding()).total == decode.total);
  const StepTime slow = step_of(b200(), 700, prefilling());
  CHECK(core::to_seconds(slow.total) > 1.1 * core::to_seconds(prefill.total));
  CHECK(step_of(b200(), 700, decoding()).total == decode.total);
  StepTime last = prefill;
  for (const double limit : {900.0, 800.0, 700.0, 600.0, 500.0, 400.0}) {
    const StepTime t = step_of(b200(), limit, prefilling());
    CHECK(t.total >= last.total);
    last = t;
  }
}

TEST_CASE("a step draws between a waiting board and its limit") {
  const Power p = power();
  for (const StepShape& shape : {prefilling(), decoding()}) {
    const StepTime t = step_of(b200(), {}, shape);
    const double mean = static_cast<double>(t.energy_uj) * 1e-6 / core::to_seconds(t.total);
    CHECK(mean > 0);
    CHECK(mean <= p.most_w() * (1 + 1e-6));
  }
  CHECK(step_of(samples::b200(), {}, decoding()).energy_uj == 0);  // no power figures
}

TEST_CASE("the compiled energy of a step is that of the model") {
  const hardware::Gpu gpu = b200();
  for (const model::Architecture& a : {samples::llama_70b(), samples::gpt_oss_120b(), samples::deepseek_v3()}) {
    const StepModel model(samples::input(a, gpu, 8));
    const CompiledCost compiled(model);
    for (const bool chunk : {false, true}) {
      StepShape s = decoding();
      s.decode_context_windowed = std::int64_t{16} * (model.attention().window > 0 ? model.attention().window : 4000);
      if (chunk) {
        s.prefill_tokens = 2048;
        s.prefill_requests = 1;
        s.prefill_attention = compiled.chunk(0, 2048);
      }
      const auto exact = static_cast<double>(model.step(s).energy_uj);
      CAPTURE(a.name, chunk);
      CHECK(static_cast<double>(compiled.step(s).energy_uj) == Approx(exact).epsilon(1e-3));
    }
  }
}
