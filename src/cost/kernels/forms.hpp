// The formulas of the families and the few functions they share. Internal to the kernels.
#pragma once

#include "cost/kernels/physics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace servecast::cost::kernels {

// A maximum with a round corner: (a^p + b^p)^(1/p), p >= 1.
inline double smooth_max(double a, double b, double p) {
  const double high = std::max(a, b);
  if (!(high > 0)) return 0;
  return high * std::pow(1 + std::pow(std::min(a, b) / high, p), 1 / p);
}
inline double smooth_max(double a, double b, double c, double p) {
  const double high = std::max({a, b, c});
  if (!(high > 0)) return 0;
  return high * std::pow(std::pow(a / high, p) + std::pow(b / high, p) + std::pow(c / high, p), 1 / p);
}

// Share of a working set that stays in a cache of the given size: falls with the fourth power beyond it.
inline double resident(double bytes, double cache) {
  const double ratio = bytes / cache;
  const double square = ratio * ratio;
  return 1 / (1 + square * square);
}

// Time to bring bytes to the multiprocessors: what HBM takes, or what each multiprocessor takes in at rate kB/us, which
// does not depend on the memory. A nearly sharp corner.
inline double loading(double hbm_us, double bytes, double rate, const Machine& m) {
  constexpr double sharpness = 8;
  return smooth_max(hbm_us, bytes / (1e3 * rate * m.sms), sharpness);
}

template <std::size_t N>
std::array<double, N> first(const Parameters& p) {
  std::array<double, N> out;
  std::copy_n(p.begin(), N, out.begin());
  return out;
}

// KV bytes a decode step reads, and the units (sequence, head) it spreads over; wide ratios count query heads.
struct DecodeWork {
  double length = 0;
  double units = 0;
  double kv_bytes = 0;  // as the units read it
  double distinct = 0;  // as memory holds it
};
DecodeWork decode_work(const Context& c, const Features& x);

Physics gemm_physics(const Context& c, const Parameters& p, const Features& x);
Physics decode_physics(const Context& c, const Parameters& p, const Features& x, bool cold);
Physics prefill_physics(const Context& c, const Parameters& p, const Features& x);
Physics mla_decode_physics(const Context& c, const Parameters& p, const Features& x, bool cold);
Physics mla_prefill_physics(const Context& c, const Parameters& p, const Features& x);
Physics mla_bmm_physics(const Context& c, const Parameters& p, const Features& x);
Physics moe_physics(const Context& c, const Parameters& p, const Features& x);
Physics quantise_physics(const Context& c, const Parameters& p, const Features& x);
Physics low_latency_physics(const Parameters& p, const Features& x, bool dispatch);
Physics normal_physics(const Parameters& p, const Features& x, bool dispatch);

}  // namespace servecast::cost::kernels
