// Host time of a step: what the CPU does, and how much of it the GPU waits for. Constants belong to an engine
// generation (a stack); they are not per model. A synchronous engine adds all of it to the GPU's time; an asynchronous
// one hides the scheduling behind the step in flight: max(gpu, hidden) + exposed.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace servecast::config {
class Fields;
}

namespace servecast::cost {

// Defaults: vLLM 0.15-0.19 with asynchronous scheduling, B200 and Hopper. Fitted ones come from closed-loop serving
// measurements (CALIBRATION_SERVING section 5), assumed ones from SPEC 2.2.
struct HostConstants {
  double schedule_us = 400;             // assumed: scheduling and input preparation per step
  double per_running_us = 2.0;          // assumed: per request in the step
  double per_new_us = 4.0;              // assumed: per prefill chunk
  double exposed_us = 0;                // never hidden, per step
  double exposed_per_running_us = 0.5;  // measured (fit): never hidden, per request in the step
  double prefill_step_ms = 5.0;         // measured (fit): never hidden, steps with prefill tokens
  double prefill_per_token_us = 0;      // alternative to prefill_factor (better on Hopper and TensorRT-LLM)
  double prefill_factor = 1.33;         // measured (fit): GPU time of steps with prefill tokens, >= 1
  double small_kernel_us = 3.0;         // measured (fit): each small kernel; the model counts 5-6 per layer
  double quantise_kernels_fp4 = 2;      // measured (fit): unfused activation quantisations per layer
  double quantise_kernels_fp8 = 0;      // fused
  bool fused_all_reduce_norm = false;   // specified: the all-reduce kernel also adds the residual and normalises
  double frontend_ms = 12.5;            // measured (fit): added to the time to first token, not to any step
};

void describe(config::Fields& f, HostConstants& h);

// Compiled constants in integer picoseconds.
struct HostTime {
  std::int64_t hidden_ps = 0;
  std::int64_t hidden_per_running_ps = 0;
  std::int64_t hidden_per_new_ps = 0;
  std::int64_t exposed_ps = 0;
  std::int64_t exposed_per_running_ps = 0;
  std::int64_t prefill_step_ps = 0;
  std::int64_t prefill_per_token_ps = 0;
  bool overlapped = true;

  // Of a step: what hides behind the GPU, and what never does. Non-decreasing in every count.
  struct Parts {
    std::int64_t hidden = 0;
    std::int64_t exposed = 0;
  };
  Parts parts(std::int32_t decoding, std::int32_t chunks, std::int32_t prefill_tokens) const {
    const std::int64_t running = decoding + chunks;
    return {hidden_ps + hidden_per_running_ps * running + hidden_per_new_ps * chunks,
            exposed_ps + exposed_per_running_ps * running + prefill_per_token_ps * prefill_tokens +
                (prefill_tokens > 0 ? prefill_step_ps : 0)};
  }

  // What the step takes beyond the GPU's time. Non-decreasing in every count; gpu + extra is non-decreasing in gpu.
  std::int64_t extra(std::int64_t gpu_ps, std::int32_t decoding, std::int32_t chunks,
                     std::int32_t prefill_tokens) const {
    const Parts p = parts(decoding, chunks, prefill_tokens);
    const std::int64_t cover = overlapped ? gpu_ps : 0;
    return p.exposed + (p.hidden > cover ? p.hidden - cover : 0);
  }
};

HostTime compile(const HostConstants& h, bool async_scheduling);

}  // namespace servecast::cost
