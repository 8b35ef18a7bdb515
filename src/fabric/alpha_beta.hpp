// Closed-form times of collectives on links that carry nothing else: latency + bytes / bandwidth (Hockney's model; the
// byte counts per algorithm are those of Thakur et al. 2005). Seconds and bytes. Pure functions: contention is the
// caller's, who may stretch the bandwidth part. Every time is non-decreasing in bytes.
#pragma once

#include "fabric/profile.hpp"

#include <cstdint>
#include <string_view>

namespace servecast::fabric {

enum class Algorithm : std::uint8_t { None, OneShot, TwoShot, Ring, Nvls, Direct };
std::string_view name(Algorithm a);

struct Collective {
  double latency_s = 0;
  double bandwidth_s = 0;
  double bytes_sent = 0;  // per rank
  Algorithm algorithm = Algorithm::None;

  double total_s() const { return latency_s + bandwidth_s; }
};

// Parameters of one group of ranks, interpolated between the profile's points in log2(ranks); beyond the last point
// latencies grow by its last step per doubling and the bandwidth stays.
struct Group {
  std::int32_t ranks = 1;
  double bytes_per_s = 0;  // achieved, per rank and direction
  double one_shot_s = 0;
  double one_shot_max_bytes = 0;
  double two_shot_s = 0;
  double two_shot_max_bytes = 0;
  double ring_s = 0;
  double nvls_s = 0;
  double nvls_bytes_per_s = 0;  // 0: not available
  double send_s = 0;
  double send_bytes_per_s = 0;
};

// Requires: ranks >= 1.
Group group_of(const ScaleUp& fabric, std::int32_t ranks);

// bytes: the full buffer. The fastest algorithm allowed at this size.
Collective all_reduce(const Group& g, double bytes);
Collective all_gather(const Group& g, double bytes);
Collective reduce_scatter(const Group& g, double bytes);
// bytes: what one rank holds for all ranks together, its own share included.
Collective all_to_all(const Group& g, double bytes);
// One message between two ranks.
Collective send(const Group& g, double bytes);

}  // namespace servecast::fabric
