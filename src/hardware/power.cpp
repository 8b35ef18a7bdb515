#include "hardware/power.hpp"

namespace servecast::hardware {
namespace {

// The measured GPU: docs/models/device.md derives each figure. hardware_profiles/gpus/b200.json states the same.
constexpr double measured_limit_w = 1000;
constexpr double measured_bf16_tflops = 2250;
constexpr double measured_memory_tb_s = 7.672;

PowerParts measured_parts() {
  PowerParts p;
  p.loaded_idle_w = 245;        // measured: an allocated, waiting B200
  p.active_w = 345;             // measured: BF16 GEMM below 1 % of the peak
  p.bf16_pj_per_flop = 0.50;    // derived: fitted to nine power bins of BF16 GEMM
  p.fp8_pj_per_flop = 0.30;     // derived: same watts as BF16 at saturation, 1.68 times the rate
  p.fp4_pj_per_flop = 0.18;     // assumed: the same step again
  p.memory_pj_per_byte = 25;    // derived: fitted to GEMM and decode attention
  p.die_link_pj_per_byte = 8;   // assumed: 1 pJ per bit
  p.scale_up_pj_per_byte = 72;  // assumed: 9 pJ per bit
  p.clock_exponent = 1.6;       // derived: sustained GEMM runs 12 % below bursts
  p.regulated = 0.985;          // measured: 981-988 W at a limit of 1000 W
  return p;
}

constexpr double pico = 1e-12;

}  // namespace

PowerFacts power_facts(const Gpu& g) {
  PowerFacts f;
  f.limit_w = g.tdp_w;
  if (g.tdp_w <= 0) return f;
  f.scaled = g.power.active_w <= 0;
  const PowerParts p = f.scaled ? measured_parts() : g.power;
  const double board = f.scaled ? g.tdp_w / measured_limit_w : 1;
  const double flop = f.scaled ? board * measured_bf16_tflops / g.dense.bf16 : 1;
  const double byte = f.scaled ? board * measured_memory_tb_s / g.memory_tb_s : 1;
  f.loaded_idle_w = p.loaded_idle_w * board;
  f.active_w = p.active_w * board;
  f.bf16_j = p.bf16_pj_per_flop * flop * pico;
  f.fp8_j = p.fp8_pj_per_flop * flop * pico;
  f.fp4_j = p.fp4_pj_per_flop * flop * pico;
  f.memory_j = p.memory_pj_per_byte * byte * pico;
  f.die_link_j = p.die_link_pj_per_byte * pico;
  f.scale_up_j = p.scale_up_pj_per_byte * pico;
  f.clock_exponent = p.clock_exponent;
  f.regulated = p.regulated;
  return f;
}

}  // namespace servecast::hardware
