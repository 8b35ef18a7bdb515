// Power and energy, first version: each GPU is in one of five states in proportion to the time shares, and draws a
// constant power in each. No clock, thermal or capping model. Facility overhead (PUE) is the caller's.
#pragma once

#include "core/time.hpp"
#include "metrics/utilisation.hpp"

#include <cstdint>

namespace servecast::metrics {

// Coefficients on top of idle, as shares of (limit - idle). Assumed, after public measurements of B200
// (452-943 W over six models): compute-bound steps draw most, memory-bound ones less.
struct PowerModel {
  double idle_w = 140;             // no model loaded; specified or assumed by the GPU's profile
  double limit_w = 1000;           // power limit; specified
  double compute_activity = 0.75;  // assumed
  double memory_activity = 0.45;   // assumed
  double network_activity = 0.20;  // assumed
  double loaded_idle = 1.3;        // x idle_w while a model is loaded and no kernel runs (memory clocks up); assumed
};

struct EnergyUse {
  double joules = 0;
  double joules_per_output_token = 0;  // 0 without output
  double joules_per_token = 0;         // prompt and output
  double mean_w = 0;                   // of all GPUs and node overhead together
  double peak_w = 0;                   // every GPU in its hungriest state that occurred
  double mean_gpu_w = 0;               // of one GPU
};

struct EnergyFacts {
  PowerModel power;
  TimeShares time;
  core::Duration duration;
  std::int64_t gpus = 0;
  double overhead_w = 0;           // CPUs, NICs, fans of all nodes together
  std::int64_t prompt_tokens = 0;  // delivered
  std::int64_t output_tokens = 0;  // delivered
};

EnergyUse measure_energy(const EnergyFacts& facts);

}  // namespace servecast::metrics
