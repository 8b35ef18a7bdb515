#include "cost/power.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost {
namespace {

constexpr double lowest_clock = 0.3;  // assumed: share of the clock of the peaks
constexpr int halvings = 40;

double seconds(std::span<const ClockedTime> times, double clock) {
  double sum = 0;
  for (const ClockedTime& t : times) sum += std::max(t.compute_s / clock, t.other_s) + t.fixed_s;
  return sum;
}

}  // namespace

Power::Power(const hardware::PowerFacts& facts, double limit_w) : facts_(facts), limit_w_(limit_w) {}

double Power::flop_j(Rate rate) const {
  switch (rate) {
    case Rate::Tf32: return 2.0 * facts_.bf16_j;  // assumed: half the rate at the same watts
    case Rate::Bf16: return facts_.bf16_j;
    case Rate::Int8:
    case Rate::Fp8: return facts_.fp8_j;
    case Rate::Fp4: return facts_.fp4_j;
  }
  return 0;
}

double Power::joules(const WorkEnergy& work, double clock) const {
  return work.compute_j * std::pow(clock, facts_.clock_exponent - 1) + work.traffic_j;
}

// What the part takes beyond the limit; grows with the clock where arithmetic matters.
double Power::excess_j(std::span<const ClockedTime> times, const WorkEnergy& work, double limit_w, double clock) const {
  const double floor_w = facts_.loaded_idle_w + active_w() * std::pow(clock, facts_.clock_exponent);
  return joules(work, clock) - (limit_w * facts_.regulated - floor_w) * seconds(times, clock);
}

Slowdown Power::settled(std::span<const ClockedTime> times, const WorkEnergy& work, double limit_w) const {
  Slowdown s;
  if (excess_j(times, work, limit_w, 1) <= 0) return s;
  double low = lowest_clock;
  double high = 1;
  if (excess_j(times, work, limit_w, low) > 0) {
    const double room_w =
        limit_w * facts_.regulated - facts_.loaded_idle_w - active_w() * std::pow(low, facts_.clock_exponent);
    s.clock = low;
    s.all = std::max(1.0, joules(work, low) / (room_w * seconds(times, low)));
    return s;
  }
  for (int i = 0; i < halvings; ++i) {
    s.clock = (low + high) / 2;
    (excess_j(times, work, limit_w, s.clock) > 0 ? high : low) = s.clock;
  }
  s.clock = low;
  return s;
}

Slowdown Power::slowdown(std::span<const ClockedTime> times, const WorkEnergy& work) const {
  const Slowdown own = settled(times, work, facts_.limit_w);
  Slowdown s = settled(times, work, limit_w_);
  s.compute = own.clock / s.clock;
  s.all = std::max(1.0, s.all / own.all);
  return s;
}

}  // namespace servecast::cost
