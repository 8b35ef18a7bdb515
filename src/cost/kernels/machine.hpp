// The numbers of a GPU that kernel times scale with, in units per microsecond. A fitted kernel moves to another GPU by
// exchanging these and nothing else.
#pragma once

#include "hardware/gpu.hpp"

namespace servecast::cost::kernels {

struct Machine {
  double bytes_per_us = 0;  // HBM
  double sms = 0;
  double bf16 = 0;  // dense peaks, FLOP per us; 0: no such unit
  double fp8 = 0;
  double fp4 = 0;
  double l2_bytes = 0;
};

inline Machine machine(const hardware::Gpu& g) {
  constexpr double tera_per_us = 1e6;
  return {g.memory_tb_s * tera_per_us, static_cast<double>(g.sm_count), g.dense.bf16 * tera_per_us,
          g.dense.fp8 * tera_per_us,   g.dense.fp4 * tera_per_us,       g.l2_mb * 1e6};
}

}  // namespace servecast::cost::kernels
