// A GPU of several dies used as one device per die, as software that exposes the dies offers it.
#pragma once

#include "hardware/gpu.hpp"

namespace servecast::hardware {

// One die: its share of SMs, L2, memory, peaks, host and scale-up links and power. Keeps the link to the other dies and
// the latency over it; whole names the GPU. Requires: dies divides sm_count.
Gpu one_die(const Gpu& gpu);

}  // namespace servecast::hardware
