// Power of one GPU as watts of its states and energy of its work. Where a profile states none, the figures of the one
// GPU that was measured (B200) are scaled by the power limit and labelled so. Watts, joules per FLOP and per byte, at
// the clock that the peaks are quoted at.
#pragma once

#include "hardware/gpu.hpp"

namespace servecast::hardware {

struct PowerFacts {
  double limit_w = 0;  // 0: unknown, and with it everything
  double loaded_idle_w = 0;
  double active_w = 0;
  double bf16_j = 0;  // per FLOP
  double fp8_j = 0;
  double fp4_j = 0;
  double memory_j = 0;  // per byte, half of them over the link between dies where there is one
  double die_link_j = 0;
  double scale_up_j = 0;
  double clock_exponent = 0;
  double regulated = 1;
  bool scaled = false;  // from another GPU, by the power limit
};

PowerFacts power_facts(const Gpu& g);

}  // namespace servecast::hardware
