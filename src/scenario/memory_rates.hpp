// What share of its memory rate a GPU reaches, by access pattern and size: from the kernel profiles that were measured
// on it.
#pragma once

#include "hardware/gpu.hpp"

#include <string>
#include <vector>

namespace servecast::scenario {

struct MemoryRate {
  double bytes = 0;     // of one launch
  double weights = 0;   // share of the rate: weights streamed by a matrix multiplication of 8 rows; 0: not measured
  double kv_cache = 0;  // paged keys and values gathered by decode attention of 32 sequences; 0: not measured
};

struct MemoryRates {
  std::string stack;  // whose profile; empty: the GPU was not measured
  std::vector<MemoryRate> rates;
};

MemoryRates memory_rates(const hardware::Gpu& gpu);

}  // namespace servecast::scenario
