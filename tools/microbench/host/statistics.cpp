#include "microbench/host/statistics.hpp"

#include "core/error.hpp"
#include "core/statistics.hpp"

#include <cmath>

namespace servecast::microbench {

Summary summarise(std::vector<double> samples) {
  SERVECAST_ENSURE(!samples.empty(), "nothing was measured");
  const double ps[] = {25, 50, 75};
  const std::vector<double> q = core::percentiles(std::span<double>(samples), ps);
  return {q[1], q[1] != 0 ? (q[2] - q[0]) / std::abs(q[1]) : 0};
}

}  // namespace servecast::microbench
