#include "hardware/gpu_rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace servecast::hardware {
namespace {

// Structured sparsity doubles a peak. A dense figure nearer to the sparse one than this is a sparse figure in the wrong
// place; data sheets round by less than 5 %.
constexpr double sparse_over_dense = 1.9;

// Dense BF16 FLOP of one SM or compute unit per clock. Derived: data sheet peak / (units * clock) of A100, H100, B200,
// MI300X, MI355X, T4, L40S, RTX A6000; GeForce boards run products that accumulate in FP32 at half of it.
struct Expected {
  std::string_view architecture;
  bool hbm;
  double flop;
};
constexpr std::array<Expected, 13> expected = {{{"ampere", true, 2048},
                                                {"hopper", true, 4096},
                                                {"blackwell", true, 8192},
                                                {"blackwell_ultra", true, 8192},
                                                {"cdna3", true, 2048},
                                                {"cdna4", true, 4096},
                                                {"turing", false, 1024},
                                                {"ampere", false, 1024},
                                                {"ampere", false, 512},
                                                {"ada", false, 1024},
                                                {"ada", false, 512},
                                                {"blackwell", false, 1024},
                                                {"blackwell", false, 512}}};
constexpr double halved = 512;
constexpr double tolerance = 0.10;

// Each halving of the format doubles the rate, except where a chip is known to do otherwise. Data sheets round.
constexpr double most_fp8 = 2.05;
constexpr double most_fp4 = 4.1;
constexpr double most_fp4_ultra = 6.7;    // Blackwell Ultra raised the dense FP4 peak alone
constexpr double most_fp4_geforce = 8.2;  // the BF16 peak is the halved one, FP4 is not

constexpr double rate_tolerance = 0.01;

void check_sparse(std::string_view key, double dense, double sparse, const Complain& complain) {
  if (sparse > 0 && dense == 0) {
    complain(fmt::format("dense/{}", key),
             fmt::format("absent although the sparse peak is {}; give the dense one", sparse));
  } else if (sparse > 0 && dense * sparse_over_dense > sparse) {
    complain(fmt::format("dense/{}", key),
             fmt::format("{} is above 1/{} of the sparse peak {}; data sheets often print the sparse figure: give the "
                         "dense one, or drop the sparse one if the chip has no such ratio",
                         dense, sparse_over_dense, sparse));
  }
}

// The expectation nearest to what the profile says; 0: none for this architecture.
double nearest_expected(const Gpu& g, double per_clock) {
  const bool hbm = !g.memory.type.starts_with("gddr");
  double best = 0;
  const auto distance = [per_clock](double flop) { return std::abs(std::log(per_clock / flop)); };
  for (const Expected& e : expected) {
    if (e.architecture != g.architecture || e.hbm != hbm) continue;
    if (best == 0 || distance(e.flop) < distance(best)) best = e.flop;
  }
  return best;
}

std::string likely_cause(double ratio) {
  if (ratio > 1.8 && ratio < 2.2) return "this looks like the sparse peak, or that of the next narrower format";
  if (ratio > 0.45 && ratio < 0.55) return "this looks like the peak of one of two dies, or of half the rate";
  if (ratio > 3.6 && ratio < 4.4) return "this looks like the sparse peak of the next narrower format";
  return "check sm_count, peak_mhz and, for boards with GDDR, memory/type";
}

void check_per_clock(const Gpu& g, const Complain& complain) {
  const double mhz = g.peak_mhz > 0 ? g.peak_mhz : g.boost_mhz;
  if (mhz <= 0 || g.sm_count <= 0 || g.dense.bf16 <= 0) return;
  const double per_clock = g.dense.bf16 * 1e12 / (g.sm_count * mhz * 1e6);
  const double want = nearest_expected(g, per_clock);
  if (want == 0 || std::abs(per_clock / want - 1) <= tolerance) return;
  complain("dense/bf16",
           fmt::format("{} TFLOP/s from {} SMs at {} MHz are {:.0f} FLOP per SM and clock, an SM of {} does {:.0f} "
                       "within {:.0f} %; {}",
                       g.dense.bf16, g.sm_count, mhz, per_clock, g.architecture, want, tolerance * 100,
                       likely_cause(per_clock / want)));
}

bool halved_bf16(const Gpu& g) {
  const double mhz = g.peak_mhz > 0 ? g.peak_mhz : g.boost_mhz;
  if (!g.memory.type.starts_with("gddr") || mhz <= 0 || g.sm_count <= 0) return false;
  return nearest_expected(g, g.dense.bf16 * 1e12 / (g.sm_count * mhz * 1e6)) == halved;
}

void check_ratio(std::string_view key, double peak, double bf16, double most, const Complain& complain) {
  if (peak <= most * bf16) return;
  complain(fmt::format("dense/{}", key),
           fmt::format("{} is {:.2f} times the BF16 peak {}, at most {} is possible; {}", peak, peak / bf16, bf16, most,
                       peak > 1.8 * most * bf16 ? "both look mixed up with other formats"
                                                : "this looks like the sparse peak, or the BF16 one is too low"));
}

}  // namespace

void check_peaks(const Gpu& g, const Complain& complain) {
  if (g.dense.bf16 == 0) complain("dense/bf16", "absent; every GPU needs its dense BF16 or FP16 peak");
  check_sparse("bf16", g.dense.bf16, g.sparse.bf16, complain);
  check_sparse("fp8", g.dense.fp8, g.sparse.fp8, complain);
  check_sparse("fp4", g.dense.fp4, g.sparse.fp4, complain);
  check_sparse("int8", g.dense.int8, g.sparse.int8, complain);
  if (g.peak_mhz > 0 && g.boost_mhz > 0 && g.peak_mhz > g.boost_mhz)
    complain("peak_mhz", fmt::format("{} exceeds boost_mhz {}, the highest clock", g.peak_mhz, g.boost_mhz));
  check_per_clock(g, complain);
  if (g.dense.bf16 == 0) return;
  const double fp4 = g.architecture == "blackwell_ultra" ? most_fp4_ultra
                     : halved_bf16(g)                    ? most_fp4_geforce
                                                         : most_fp4;
  check_ratio("fp8", g.dense.fp8, g.dense.bf16, most_fp8, complain);
  check_ratio("fp4", g.dense.fp4, g.dense.bf16, fp4, complain);
}

void check_memory(const Gpu& g, const Complain& complain) {
  const MemoryParts& m = g.memory;
  const double rate = m.bus_bits * m.gbit_s_per_pin / 8 / 1000;
  if (rate > 0 && std::abs(g.memory_tb_s / rate - 1) > rate_tolerance)
    complain("memory_tb_s", fmt::format("{} differs from {} bits x {} Gbit/s = {:.3f} TB/s by more than {:.0f} %; give "
                                        "the rate that the bus has",
                                        g.memory_tb_s, m.bus_bits, m.gbit_s_per_pin, rate, rate_tolerance * 100));
  if (m.fitted_gb > 0 && m.chip_gb > 0 && m.fitted_gb > m.chip_gb)
    complain("memory/fitted_gb", fmt::format("{} exceeds the {} of the stacks", m.fitted_gb, m.chip_gb));
  if (m.fitted_gb > 0 && g.memory_gib > m.fitted_gb)
    complain("memory_gib", fmt::format("{} exceeds the label of {}; software sees less", g.memory_gib, m.fitted_gb));
  if (m.bus_bits > 0 && m.gbit_s_per_pin == 0)
    complain("memory/gbit_s_per_pin", "absent although bus_bits is given; give both or neither");
}

}  // namespace servecast::hardware
