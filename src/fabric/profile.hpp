// A scale-up link class (NVLink domain, PCIe, Infinity Fabric) as collectives see it: bandwidth per GPU and direction
// in GB/s (1e9 B/s), latencies in us as measured from inside a CUDA graph, fractions of the nominal bandwidth that are
// achieved. Every non-zero number of a profile is covered by one Origin. Holds no topology and no state of the links.
#pragma once

#include "hardware/gpu.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::fabric {

// All-reduce among a number of ranks. The size limits are those of the custom kernels; 0 = algorithm not available.
struct RankPoint {
  double one_shot_us = 0;       // every rank sends its whole buffer to every other
  double one_shot_max_kib = 0;  // of the full buffer
  double two_shot_us = 0;       // reduce-scatter and all-gather by peer access, both phases
  double two_shot_max_kib = 0;
  double ring_us = 0;   // library collective, all its steps
  double achieved = 0;  // share of the nominal bandwidth moved per rank and direction; 0: no such point
};

// Reduction inside the switch. fraction: full-buffer bytes per second over the nominal bandwidth; 0 = none.
struct Nvls {
  std::int32_t min_ranks = 0;
  double latency_us = 0;
  double fraction = 0;
};

struct ScaleUp {
  std::string name;
  double per_direction_gb_s = 0;  // nominal, per GPU
  std::int32_t max_ranks = 8;     // GPUs that reach each other in one hop
  RankPoint ranks_2;
  RankPoint ranks_4;
  RankPoint ranks_8;
  RankPoint ranks_72;  // only rack-scale domains
  Nvls nvls;
  double send_us = 0;  // one point-to-point message
  double send_achieved = 0;
  std::string note;
  std::vector<hardware::Origin> origin;
};

// Rules across fields: at least two ranks described, fractions where latencies are, provenance complete.
void check(const ScaleUp& s, const hardware::Complain& complain);

void describe(config::Fields& f, RankPoint& p);
void describe(config::Fields& f, Nvls& n);
void describe(config::Fields& f, ScaleUp& s);

}  // namespace servecast::fabric
