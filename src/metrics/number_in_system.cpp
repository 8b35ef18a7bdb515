#include "metrics/number_in_system.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::metrics {

namespace {

// First moments of the events of one bin: sum over events of (upper edge - instant), picoseconds.
struct Moments {
  long double arrivals = 0;
  long double departures = 0;
};

class Binner {
 public:
  Binner(NumberInSystem& n, std::size_t count) : n_(n), moments_(count + 1) { n_.bins.resize(count); }

  void arrival(core::Time t) {
    const std::size_t i = index(t);
    ++bin(i).arrivals;
    moments_[i].arrivals += static_cast<long double>((upper_edge(i) - t).ps);
  }
  void departure(core::Time t) {
    const std::size_t i = index(t);
    ++bin(i).departures;
    moments_[i].departures += static_cast<long double>((upper_edge(i) - t).ps);
  }
  void close();

 private:
  std::size_t index(core::Time t) const {
    if (t > n_.window_end) return n_.bins.size();
    return std::min(static_cast<std::size_t>((t - n_.begin).ps / n_.width.ps), n_.bins.size() - 1);
  }
  SystemBin& bin(std::size_t i) { return i < n_.bins.size() ? n_.bins[i] : n_.tail; }
  core::Time lower_edge(std::size_t i) const {
    return std::min(n_.begin + n_.width * static_cast<std::int64_t>(i), n_.window_end);
  }
  core::Time upper_edge(std::size_t i) const {
    return i < n_.bins.size() ? std::min(n_.begin + n_.width * static_cast<std::int64_t>(i + 1), n_.window_end)
                              : n_.end;
  }

  NumberInSystem& n_;
  std::vector<Moments> moments_;
};

void Binner::close() {
  std::int64_t level = 0;
  long double area = 0;
  for (std::size_t i = 0; i <= n_.bins.size(); ++i) {
    const core::Time lower = i < n_.bins.size() ? lower_edge(i) : n_.window_end;
    area += static_cast<long double>(level) * static_cast<long double>((upper_edge(i) - lower).ps);
    area += moments_[i].arrivals - moments_[i].departures;
    level += bin(i).arrivals - bin(i).departures;
    bin(i).at_end = level;
    SERVECAST_ENSURE(level >= 0, "{} requests in the system at {} ps", level, upper_edge(i).ps);
  }
  n_.request_seconds = static_cast<double>(area / static_cast<long double>(core::ps_per_second));
}

}  // namespace

double NumberInSystem::mean() const {
  const double span = core::to_seconds(end - begin);
  return span > 0 ? request_seconds / span : 0.0;
}

NumberInSystem number_in_system(const Records& records, core::Time end, std::int32_t bins) {
  NumberInSystem n;
  n.end = end;
  if (records.size() == 0) return n;
  n.begin = records[0].arrival;
  n.window_end = std::min(records[records.size() - 1].arrival, end);
  SERVECAST_ENSURE(n.window_end >= n.begin && bins > 0, "window of {} ps in {} bins", (n.window_end - n.begin).ps,
                   bins);
  const std::int64_t span = (n.window_end - n.begin).ps;
  n.width = {std::max<std::int64_t>(1, (span + bins - 1) / bins)};
  const std::int64_t used = std::max<std::int64_t>(1, (span + n.width.ps - 1) / n.width.ps);
  Binner binner(n, static_cast<std::size_t>(used));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    SERVECAST_ENSURE(record.arrival <= end && (record.unfinished() || record.finish <= end),
                     "request {} lives past the end of the run at {} ps", i, end.ps);
    binner.arrival(record.arrival);
    if (!record.unfinished()) binner.departure(record.finish);
  }
  binner.close();
  return n;
}

}  // namespace servecast::metrics
