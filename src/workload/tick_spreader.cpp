#include "workload/tick_spreader.hpp"

#include <algorithm>
#include <utility>

namespace servecast::workload {

bool TickSpreader::read_tick(Trace& trace) {
  if (!begun_) has_after_ = trace.next(after_);
  begun_ = true;
  if (!has_after_) return false;
  tick_.clear();
  position_ = 0;
  const std::int64_t stamp = after_.arrival_ns;
  do {
    tick_.push_back(std::move(after_));
    has_after_ = trace.next(after_);
  } while (has_after_ && after_.arrival_ns == stamp);
  if (has_after_) {
    const std::int64_t distance = after_.arrival_ns - stamp;
    tick_ns_ = tick_ns_ == 0 ? distance : std::min(tick_ns_, distance);
  }
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < tick_.size(); ++i) {
    offsets.push_back(static_cast<std::int64_t>(random_.uniform() * static_cast<double>(tick_ns_)));
  }
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 0; i < tick_.size(); ++i) tick_[i].arrival_ns += offsets[i];
  return true;
}

bool TickSpreader::next(Trace& trace, TraceRecord& record) {
  if (position_ == tick_.size() && !read_tick(trace)) return false;
  record = std::move(tick_[position_++]);
  return true;
}

}  // namespace servecast::workload
