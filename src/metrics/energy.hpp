// Energy of a run: the integral of power over every step and every wait. A GPU with its model loaded draws a constant
// power; what a step adds to it comes from the cost model, step by step. No facility overhead (PUE): that is the
// caller's.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace servecast::metrics {

struct EnergyUse {
  double joules = 0;
  double joules_per_output_token = 0;  // 0 without output
  double joules_per_token = 0;         // prompt and output
  double mean_w = 0;                   // of all GPUs and node overhead together
  double peak_w = 0;                   // every GPU in the hungriest step that occurred
  double mean_gpu_w = 0;               // of one GPU
  bool scaled = false;                 // power figures are those of another GPU, scaled by the power limit
};

struct EnergyFacts {
  double loaded_idle_w = 0;  // of one GPU that waits
  double work_j = 0;         // of all GPUs, beyond waiting
  double peak_work_w = 0;    // of one GPU in the hungriest step, beyond waiting
  bool scaled = false;
  core::Duration duration;
  std::int64_t gpus = 0;
  double overhead_w = 0;           // CPUs, NICs, fans of all nodes together
  std::int64_t prompt_tokens = 0;  // delivered
  std::int64_t output_tokens = 0;  // delivered
};

EnergyUse measure_energy(const EnergyFacts& facts);

}  // namespace servecast::metrics
