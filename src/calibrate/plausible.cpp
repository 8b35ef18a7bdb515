#include "calibrate/plausible.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::calibrate {

namespace {

using cost::kernels::DataType;
using cost::kernels::Family;

constexpr double tolerance = 1.05;   // clocks above the nominal boost, rounding of times
constexpr double far_beyond_l2 = 4;  // working set over L2 from which little of it can be resident
// Realised routing may activate fewer experts than drawn; measured: to 1.45 times the peak on sound rows.
constexpr double expert_tolerance = 1.6;

constexpr double longest_us = 1e8;  // assumed: no kernel of a step takes as long

constexpr const char* too_fast = "faster than the arithmetic peak allows";
constexpr const char* too_much = "faster than the memory bandwidth allows";

double attention_flops(const Features& x) {
  const double tokens = x[1];
  const double window = x[5] > 0 ? std::min(x[5], tokens) : tokens;
  const double pairs = window * tokens - window * (window - 1) / 2;
  return 4 * x[0] * x[2] * x[4] * pairs;
}

}  // namespace

std::string implausible(const Key& key, const Observation& row, const cost::kernels::Machine& machine) {
  if (!(std::isfinite(row.us) && row.us > 0)) return "no positive time";
  if (row.us > longest_us) return "a time beyond 100 s";
  const auto c = cost::kernels::context(key, machine);
  const Features& x = row.x;
  double flops = 0, bytes = 0, slack = tolerance;
  if (key.family == Family::Gemm) flops = 2 * x[0] * x[1] * x[2];
  if (key.family == Family::Prefill) flops = attention_flops(x);
  if (key.family == Family::Decode) {
    const double length = x[5] > 0 ? std::min(x[4], x[5]) : x[4];
    bytes = 2 * x[0] * x[2] * length * x[3] * c.kv_bytes;
  }
  if (key.family == Family::MlaDecode) bytes = x[0] * x[1] * 576 * c.kv_bytes;
  if (key.family == Family::Moe) {
    bytes = x[7] * c.matrices * x[1] * x[2] * c.weight_bytes;
    flops = 2 * c.matrices * x[6] * x[1] * x[2];
    slack = expert_tolerance;
  }
  const double peak = key.family == Family::Prefill && key.type == DataType::Fp8 ? machine.fp8 : c.peak;
  if (flops > slack * peak * row.us) return too_fast;
  if (bytes > far_beyond_l2 * machine.l2_bytes && bytes > slack * machine.bytes_per_us * row.us) return too_much;
  return "";
}

}  // namespace servecast::calibrate
