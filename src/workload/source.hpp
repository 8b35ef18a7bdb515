// Where requests come from: a pull interface, so that traces stream and closed loops react. The cluster peeks at the
// next known arrival, takes it when the clock reaches it, and tells the source of every request that ended.
#pragma once

#include "core/time.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <optional>

namespace servecast::workload {

class Source {
 public:
  virtual ~Source() = default;

  // Instant of the next arrival known now; Time::never() when none is known (it may change after ended()).
  virtual core::Time next_arrival() = 0;
  // Takes the request whose arrival next_arrival() announced. Requires: next_arrival() != never.
  virtual Request take() = 0;
  // A request left the system at `now`, finished or rejected. Closed loops and sessions answer with new arrivals >=
  // now.
  virtual void ended(RequestId id, core::Time now) { (void)id, (void)now; }
  // True when next_arrival() can only change through ended(): replicas may then not run ahead of completions.
  virtual bool reacts() const { return false; }
  // Requests this source will offer in all, if known (for progress).
  virtual std::optional<std::uint64_t> total() const { return std::nullopt; }
};

}  // namespace servecast::workload
