// Which SMs share a part of the L2 cache, from latencies: an SM reaches lines of its own part sooner. Two dies, or two
// partitions of one die, show as two groups. Pure; the kernels that measure are in cuda/.
#pragma once

#include <cstdint>
#include <vector>

namespace servecast::microbench {

struct SmGroups {
  bool split = false;              // two groups were found; else every SM is in group 0 and every line near
  std::vector<std::int32_t> sm;    // group of each SM, 0 or 1; SM 0 is in group 0
  std::vector<std::int32_t> line;  // group whose SMs are near to the line
};

// latency[sm][line] of one access. Groups are told apart if near and far differ by at least `least_gap` of the mean.
// Requires: a rectangle of at least 2 x 2.
SmGroups find_groups(const std::vector<std::vector<double>>& latency, double least_gap = 0.04);

}  // namespace servecast::microbench
