#include "hardware/gpu.hpp"

#include "config/fields.hpp"
#include "hardware/provenance.hpp"

#include <fmt/core.h>

namespace servecast::hardware {
namespace {

using config::above;
using config::closed;

// Structured sparsity doubles a peak. A dense figure nearer to the sparse one than this is a sparse figure in the wrong
// place; data sheets round by less than 5 %.
constexpr double sparse_over_dense = 1.9;

void check_peak(std::string_view key, double dense, double sparse, const Complain& complain) {
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

void numbers(config::Fields& f, Gpu& g) {
  f.required("sm_count", g.sm_count, closed(1, 100000), "streaming multiprocessors or compute units enabled");
  f.field("boost_mhz", g.boost_mhz, closed(0, 10000), "clock at which the peaks hold, or the highest one");
  f.field("dies", g.dies, closed(1, 64), "compute dies behind one device");
  f.field("die_link_tb_s", g.die_link_tb_s, closed(0, 1000), "die-to-die link, both directions together");
  f.field("l2_mb", g.l2_mb, closed(0, 10000), "last cache level in front of memory");
  f.required("memory_gib", g.memory_gib, above(0, 100000), "memory visible to software");
  f.required("memory_tb_s", g.memory_tb_s, above(0, 1000), "peak memory rate, from bus width and clock where known");
  f.required("dense", g.dense, "dense tensor peaks, TFLOP/s");
  f.field("sparse", g.sparse, "2:4 sparse tensor peaks, TFLOP/s; for display, never used");
  f.field("scale_up_gb_s", g.scale_up_gb_s, closed(0, 100000), "NVLink or similar, GB/s per direction, nominal");
  f.field("pcie_gb_s", g.pcie_gb_s, closed(0, 10000), "host link, GB/s per direction");
  f.field("nic_gbit_s", g.nic_gbit_s, closed(0, 100000), "scale-out network per GPU, Gbit/s");
  f.field("tdp_w", g.tdp_w, closed(0, 100000), "board power limit");
  f.field("idle_w", g.idle_w, closed(0, 100000), "board power when idle");
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

void check(const Gpu& g, const Complain& complain) {
  if (g.dense.bf16 == 0) complain("dense/bf16", "absent; every GPU needs its dense BF16 or FP16 peak");
  check_peak("bf16", g.dense.bf16, g.sparse.bf16, complain);
  check_peak("fp8", g.dense.fp8, g.sparse.fp8, complain);
  check_peak("fp4", g.dense.fp4, g.sparse.fp4, complain);
  check_peak("int8", g.dense.int8, g.sparse.int8, complain);
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
