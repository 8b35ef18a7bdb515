#include "cost/host.hpp"

#include "config/fields.hpp"

namespace servecast::cost {

void describe(config::Fields& f, HostConstants& h) {
  constexpr config::Range us = config::closed(0, 1e6);
  constexpr config::Range ms = config::closed(0, 1e5);
  f.field("schedule_us", h.schedule_us, us, "scheduling and input preparation per step, hidden by async scheduling");
  f.field("per_running_us", h.per_running_us, us, "the same per request in the step");
  f.field("per_new_us", h.per_new_us, us, "the same per prefill chunk");
  f.field("exposed_us", h.exposed_us, us, "host time per step that is never hidden");
  f.field("exposed_per_running_us", h.exposed_per_running_us, us, "never hidden, per request in the step");
  f.field("prefill_step_ms", h.prefill_step_ms, ms, "never hidden, per step with prefill tokens");
  f.field("prefill_per_token_us", h.prefill_per_token_us, us, "never hidden, per prefill token");
  f.field("prefill_factor", h.prefill_factor, config::closed(1, 10), "GPU time factor of steps with prefill tokens");
  f.field("small_kernel_us", h.small_kernel_us, us, "each small kernel of a layer: norms, rope, KV write, activation");
  f.field("quantise_kernels_fp4", h.quantise_kernels_fp4, config::closed(0, 8), "unfused FP4 quantisations per layer");
  f.field("quantise_kernels_fp8", h.quantise_kernels_fp8, config::closed(0, 8), "unfused FP8 quantisations per layer");
  f.field("fused_all_reduce_norm", h.fused_all_reduce_norm, "the all-reduce adds the residual and normalises too");
  f.field("frontend_ms", h.frontend_ms, ms, "tokenising and HTTP, added to the time to first token");
}

HostTime compile(const HostConstants& h, bool async_scheduling) {
  HostTime t;
  t.hidden_ps = core::microseconds(h.schedule_us).ps;
  t.hidden_per_running_ps = core::microseconds(h.per_running_us).ps;
  t.hidden_per_new_ps = core::microseconds(h.per_new_us).ps;
  t.exposed_ps = core::microseconds(h.exposed_us).ps;
  t.exposed_per_running_ps = core::microseconds(h.exposed_per_running_us).ps;
  t.prefill_step_ps = core::milliseconds(h.prefill_step_ms).ps;
  t.prefill_per_token_ps = core::microseconds(h.prefill_per_token_us).ps;
  t.overlapped = async_scheduling;
  return t;
}

}  // namespace servecast::cost
