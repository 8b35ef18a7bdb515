// Preemption storms: said when a run preempts often, with the settings that would ease them, by the figures of the
// pool.
#pragma once

#include "hardware/gpu.hpp"
#include "precision/format.hpp"
#include "scenario/fit.hpp"

#include <cstdint>
#include <string>

namespace servecast::scenario {

struct Pressure {
  std::int64_t preemptions = 0;
  std::int64_t requests = 0;  // that arrived
  std::int32_t max_num_seqs = 0;
};

// Empty where preemptions are rare: fewer than one in ten requests.
std::string preemption_storm(const Pressure& pressure, const FitReport& fit, precision::Format kv_cache,
                             const hardware::Gpu& gpu);

}  // namespace servecast::scenario
