#include "hardware/gpu.hpp"

#include "config/fields.hpp"
#include "hardware/gpu_rules.hpp"
#include "hardware/provenance.hpp"

#include <fmt/core.h>

namespace servecast::hardware {
namespace {

using config::above;
using config::closed;

void numbers(config::Fields& f, Gpu& g) {
  f.required("sm_count", g.sm_count, closed(1, 100000), "streaming multiprocessors or compute units enabled");
  f.field("boost_mhz", g.boost_mhz, closed(0, 10000), "highest clock");
  f.field("peak_mhz", g.peak_mhz, closed(0, 10000), "clock that the peaks are quoted at; absent: boost_mhz");
  f.field("dies", g.dies, closed(1, 64), "compute dies behind one device");
  f.field("die_link_tb_s", g.die_link_tb_s, closed(0, 1000), "die-to-die link, both directions together");
  f.field("far_l2_ns", g.far_l2_ns, closed(0, 10000), "extra latency of an L2 line that lives on the other die");
  f.field("l2_mb", g.l2_mb, closed(0, 10000), "last cache level in front of memory");
  f.required("memory_gib", g.memory_gib, above(0, 100000), "memory visible to software");
  f.required("memory_tb_s", g.memory_tb_s, above(0, 1000), "peak memory rate, from bus width and clock where known");
  f.field("memory", g.memory, "what rate and capacity of the memory are made of");
  f.required("dense", g.dense, "dense tensor peaks, TFLOP/s");
  f.field("sparse", g.sparse, "2:4 sparse tensor peaks, TFLOP/s; for display, never used");
  f.field("scale_up_gb_s", g.scale_up_gb_s, closed(0, 100000), "NVLink or similar, GB/s per direction, nominal");
  f.field("pcie_gb_s", g.pcie_gb_s, closed(0, 10000), "host link, GB/s per direction");
  f.field("nic_gbit_s", g.nic_gbit_s, closed(0, 100000), "scale-out network per GPU, Gbit/s");
  f.field("tdp_w", g.tdp_w, closed(0, 100000), "board power limit");
  f.field("idle_w", g.idle_w, closed(0, 100000), "board power when idle");
  f.field("power", g.power, "watts of states, energy of work; absent: scaled from another GPU by the power limit");
  f.field("gpu_hour_usd", g.gpu_hour_usd, closed(0, 10000), "indicative price of one GPU hour");
}

}  // namespace

void describe(config::Fields& f, Origin& o) {
  f.required("keys", o.keys, "numbers this origin covers; nested ones as \"dense.bf16\"");
  f.required("kind", o.kind, "how sure the numbers are");
  f.required("source", o.source, "document, measurement or reasoning");
}

void describe(config::Fields& f, Peaks& p) {
  const config::Range range = closed(0, 1e6);
  f.field("bf16", p.bf16, range, "BF16 and FP16");
  f.field("fp8", p.fp8, range, "FP8, 0 if the chip has none");
  f.field("fp4", p.fp4, range, "FP4, 0 if the chip has none");
  f.field("int8", p.int8, range, "INT8 operations, TOP/s");
}

void describe(config::Fields& f, MemoryParts& m) {
  f.field("type", m.type, "hbm2e, hbm3, hbm3e, gddr6 ...");
  f.field("stacks", m.stacks, closed(0, 64), "HBM stacks");
  f.field("bus_bits", m.bus_bits, closed(0, 100000), "enabled bus width");
  f.field("gbit_s_per_pin", m.gbit_s_per_pin, closed(0, 1000), "data rate of one line of the bus, Gbit/s");
  f.field("label_tb_s", m.label_tb_s, closed(0, 1000), "rate as the data sheet rounds it, TB/s");
  f.field("chip_gb", m.chip_gb, closed(0, 100000), "capacity of the stacks, disabled parts included");
  f.field("fitted_gb", m.fitted_gb, closed(0, 100000), "capacity as the product is labelled");
  f.field("ecc_share", m.ecc_share, closed(0, 0.5), "share of the capacity that in-band error correction takes");
  f.field("refresh_share", m.refresh_share, closed(0, 0.5), "share of the time spent on refresh; not applied again");
}

void describe(config::Fields& f, PowerParts& p) {
  const config::Range watts = closed(0, 100000);
  const config::Range energy = closed(0, 10000);
  f.field("loaded_idle_w", p.loaded_idle_w, watts, "a model is loaded, no kernel runs");
  f.field("active_w", p.active_w, watts, "kernels run and do next to nothing");
  f.field("bf16_pj_per_flop", p.bf16_pj_per_flop, energy, "energy of a BF16 operation at the clock of the peaks");
  f.field("fp8_pj_per_flop", p.fp8_pj_per_flop, energy, "the same of FP8 and INT8");
  f.field("fp4_pj_per_flop", p.fp4_pj_per_flop, energy, "the same of FP4");
  f.field("memory_pj_per_byte", p.memory_pj_per_byte, energy, "memory traffic, its way between dies included");
  f.field("die_link_pj_per_byte", p.die_link_pj_per_byte, energy, "traffic between dies, already in the memory's");
  f.field("scale_up_pj_per_byte", p.scale_up_pj_per_byte, energy, "bytes sent over scale-up links");
  f.field("clock_exponent", p.clock_exponent, closed(0, 5), "SM power grows with this power of the clock");
  f.field("regulated", p.regulated, closed(0, 1), "share of the power limit at which the board settles");
}

void check(const Gpu& g, const Complain& complain) {
  check_peaks(g, complain);
  check_memory(g, complain);
  if (g.dies == 1 && g.die_link_tb_s > 0) complain("die_link_tb_s", "given for a single die; set dies or drop the key");
  if (g.tdp_w > 0 && g.idle_w > g.tdp_w) {
    complain("idle_w", fmt::format("{} exceeds tdp_w {}; idle power is below the limit", g.idle_w, g.tdp_w));
  }
  Gpu copy = g;
  check_origin(number_keys([&copy](config::Fields& f) { numbers(f, copy); }), g.origin, complain);
}

void describe(config::Fields& f, Gpu& g) {
  f.required("name", g.name, "name users write");
  f.required("architecture", g.architecture, "ampere, ada, hopper, blackwell, cdna3 ...");
  numbers(f, g);
  f.field("note", g.note, "variant, and what the numbers leave out");
  f.required("origin", g.origin, "source and kind of every number");
  if (f.reading()) check(g, [&f](std::string_view key, const std::string& message) { f.problem(key, message); });
}

}  // namespace servecast::hardware
