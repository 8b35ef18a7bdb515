// GPUs and nodes as their data sheets and measurements state them. Dense and sparse peaks never mix: the cost model
// reads dense ones only. Every non-zero number of a profile is covered by one Origin, which names its source and kind
// (measured, specified, derived, assumed). Rates are per direction and nominal unless a key says otherwise; 0 = unknown
// or absent.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::hardware {

enum class Evidence : std::uint8_t { Measured, Specified, Derived, Assumed };
inline constexpr std::string_view evidence_names[] = {"measured", "specified", "derived", "assumed"};
constexpr std::span<const std::string_view> names_of(Evidence) { return evidence_names; }

// Where numbers of a profile come from. keys: "memory_gib", "dense.bf16" ...
struct Origin {
  std::vector<std::string> keys;
  Evidence kind = Evidence::Assumed;
  std::string source;
};

// Dense tensor peaks in TFLOP/s; 0 where the chip has no such unit.
struct Peaks {
  double bf16 = 0;
  double fp8 = 0;
  double fp4 = 0;
  double int8 = 0;
};

// Where the bandwidth and the capacity come from. The rate is bus_bits * gbit_s_per_pin / 8; the capacity shrinks from
// what the stacks hold (chip_gb) over what is enabled (fitted_gb) to memory_gib, which software sees.
struct MemoryParts {
  std::string type;           // hbm2e, hbm3, hbm3e, gddr6 ...; empty: unknown
  std::int32_t stacks = 0;    // HBM stacks
  double bus_bits = 0;        // enabled width
  double gbit_s_per_pin = 0;  // data rate
  double label_tb_s = 0;      // as the data sheet rounds it
  double chip_gb = 0;         // fitted and fused-off capacity together, as labels count
  double fitted_gb = 0;       // label of the product
  double ecc_share = 0;       // of the capacity, taken by in-band error correction; HBM carries its own beside the data
  double refresh_share = 0;   // of the time; contained in every achieved share, stated for the reader
};

// What a board draws: watts of states, and energy of work at the clock of the peaks. 0: see power_facts().
struct PowerParts {
  double loaded_idle_w = 0;  // a model is loaded, no kernel runs
  double active_w = 0;       // kernels run and do next to nothing
  double bf16_pj_per_flop = 0;
  double fp8_pj_per_flop = 0;
  double fp4_pj_per_flop = 0;
  double memory_pj_per_byte = 0;  // HBM traffic, and half of it over the link between dies
  double die_link_pj_per_byte = 0;
  double scale_up_pj_per_byte = 0;
  double clock_exponent = 0;  // power of the SMs grows with this power of their clock
  double regulated = 0;       // share of the limit at which the board settles
};

struct Gpu {
  std::string name;
  std::string architecture;  // ampere, ada, hopper, blackwell, cdna3 ...
  std::int32_t sm_count = 0;
  double boost_mhz = 0;  // highest clock
  double peak_mhz = 0;   // clock that the peaks are quoted at; 0: boost_mhz
  std::int32_t dies = 1;
  double die_link_tb_s = 0;  // both directions together
  double far_l2_ns = 0;      // what a line of the other die's L2 half takes beyond a near one
  double l2_mb = 0;          // all dies together
  double memory_gib = 0;     // visible to software
  double memory_tb_s = 0;    // from bus width and clock where known, else label
  MemoryParts memory;
  Peaks dense;
  Peaks sparse;              // for display only
  double scale_up_gb_s = 0;  // NVLink or similar, per direction, nominal
  double pcie_gb_s = 0;      // host link per direction
  double nic_gbit_s = 0;     // scale-out per GPU
  double tdp_w = 0;
  double idle_w = 0;
  PowerParts power;
  double gpu_hour_usd = 0;  // indicative; 0 unknown
  std::string note;
  std::vector<Origin> origin;
  std::string whole;  // not of the document: the GPU that this is one die of
};

struct Node {
  std::string name;
  std::string gpu;                   // name of a GPU profile
  std::int32_t gpus = 8;             // per node
  std::int32_t scale_up_domain = 8;  // GPUs that reach each other over scale-up links
  std::string fabric;                // name of a fabric profile
  double node_overhead_w = 0;        // CPUs, NICs, fans, at load
  double nvme_read_gb_s = 0;         // local storage of the whole node; 0: unknown
  double nvme_write_gb_s = 0;
  std::string note;
  std::vector<Origin> origin;
};

// Receives a key of the checked struct and what is wrong with it.
using Complain = std::function<void(std::string_view key, const std::string& message)>;

// Rules across fields: dense peaks against sparse ones and against what an SM does per clock, memory rate against its
// bus, dies, provenance complete and about existing keys. describe() applies them while reading; call them for structs
// built in code.
void check(const Gpu& g, const Complain& complain);
void check(const Node& n, const Complain& complain);

// The origin that covers a number ("dense.fp8"), or null.
const Origin* origin_of(const std::vector<Origin>& origin, std::string_view key);

void describe(config::Fields& f, Origin& o);
void describe(config::Fields& f, Peaks& p);
void describe(config::Fields& f, MemoryParts& m);
void describe(config::Fields& f, PowerParts& p);
void describe(config::Fields& f, Gpu& g);
void describe(config::Fields& f, Node& n);

}  // namespace servecast::hardware
