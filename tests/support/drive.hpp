// Drives one replica as a cluster does: arrivals, runs, cuts, commits.
#pragma once

#include "engine/replica.hpp"

#include <algorithm>
#include <vector>

namespace servecast::test {

// cuts: the run is not told of arrivals ahead, but cut by them.
inline void drive(engine::Replica& replica, const std::vector<workload::Request>& requests, bool cuts) {
  std::size_t next = 0;
  core::Time now{0};
  for (;;) {
    while (next < requests.size() && requests[next].arrival <= now) replica.enqueue(requests[next++], 0);
    const core::Time arrival = next < requests.size() ? requests[next].arrival : core::Time::never();
    engine::Run run{now, now, 0};
    if (replica.has_work()) run = replica.advance(now, cuts ? core::Time::never() : arrival, {});
    if (run.steps == 0) {
      const bool wakes = run.end > run.begin;
      if (arrival == core::Time::never() && !wakes) break;
      now = wakes ? std::min(arrival, run.end) : arrival;
      continue;
    }
    while (next < requests.size() && requests[next].arrival < run.end) {
      const core::Time at = requests[next].arrival;
      replica.enqueue(requests[next++], 0);
      run = replica.cut(at);
    }
    replica.commit();
    now = run.end;
  }
}

}  // namespace servecast::test
