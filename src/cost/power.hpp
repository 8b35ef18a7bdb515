// Power, clock and energy of one device. Power of a part of a step is the mean over it: idle watts of a loaded board,
// what running kernels add, and the energy of their arithmetic and traffic over the time they take. Above the limit the
// SM clock falls, arithmetic with it; the memory clock stays. Kernel times were measured at the board's own limit:
// slowdown() is relative to that, and exactly one there. docs/models/device.md has the formulas.
#pragma once

#include "cost/rate.hpp"
#include "hardware/power.hpp"

#include <span>

namespace servecast::cost {

// One operator of a part of a step: its arithmetic at full clock, what else bounds it, and what is neither.
struct ClockedTime {
  double compute_s = 0;
  double other_s = 0;
  double fixed_s = 0;
};

// Joules at full clock, above the power of a board that runs kernels and does next to nothing.
struct WorkEnergy {
  double compute_j = 0;
  double traffic_j = 0;
};

struct Slowdown {
  double compute = 1;  // of arithmetic, by the clock
  double all = 1;      // of everything, where even the lowest clock exceeds the limit
  double clock = 1;    // share of the clock of the peaks
};

class Power {
 public:
  Power() = default;
  // limit_w: of the device; at most the board's own.
  Power(const hardware::PowerFacts& facts, double limit_w);

  bool known() const { return facts_.limit_w > 0; }
  bool limited() const { return known() && limit_w_ < facts_.limit_w; }
  const hardware::PowerFacts& facts() const { return facts_; }

  double flop_j(Rate rate) const;
  double memory_j() const { return facts_.memory_j; }
  double scale_up_j() const { return facts_.scale_up_j; }
  double die_link_j() const { return facts_.die_link_j; }

  // Watts that running kernels add to a loaded, idle board, and the most it may draw beyond it.
  double active_w() const { return facts_.active_w - facts_.loaded_idle_w; }
  double most_w() const { return limit_w_ * facts_.regulated - facts_.loaded_idle_w; }

  // Requires: limited().
  Slowdown slowdown(std::span<const ClockedTime> times, const WorkEnergy& work) const;
  // The clock, as a share, at which the mean power of the part meets a limit, and what is missing at the lowest one.
  Slowdown settled(std::span<const ClockedTime> times, const WorkEnergy& work, double limit_w) const;
  // Energy of work done at a clock.
  double joules(const WorkEnergy& work, double clock) const;

 private:
  double excess_j(std::span<const ClockedTime> times, const WorkEnergy& work, double limit_w, double clock) const;

  hardware::PowerFacts facts_;
  double limit_w_ = 0;
};

}  // namespace servecast::cost
