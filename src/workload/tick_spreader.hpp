// Undoes the quantisation of traces that stamp arrivals with the tick they fall in: the requests of a tick are spread
// uniformly over it, in the order of the file. A tick lasts to the next stamp, but no longer than the shortest distance
// of stamps seen so far; the last tick lasts that distance. Holds the requests of one tick.
#pragma once

#include "core/random.hpp"
#include "workload/trace.hpp"
#include "workload/trace_reader.hpp"

#include <cstdint>
#include <vector>

namespace servecast::workload {

class TickSpreader {
 public:
  explicit TickSpreader(std::uint64_t seed) : random_(seed, "workload/arrivals") {}
  bool next(Trace& trace, TraceRecord& record);

 private:
  bool read_tick(Trace& trace);

  core::Random random_;
  std::vector<TraceRecord> tick_;
  std::size_t position_ = 0;
  TraceRecord after_;  // first record of the next tick
  bool has_after_ = false;
  bool begun_ = false;
  std::int64_t tick_ns_ = 0;
};

}  // namespace servecast::workload
