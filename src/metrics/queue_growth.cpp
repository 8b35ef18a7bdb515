#include "metrics/queue_growth.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace servecast::metrics {

namespace {

constexpr std::size_t tenths = 10;
constexpr std::size_t samples_per_group = 2000;  // a median of 2,000 values is within 3 % in rank; ample here

double wait_s(const Record& record, core::Time end) {
  if (record.first_token != core::Time::never()) return core::to_seconds(record.first_token - record.arrival);
  return core::to_seconds(end - record.arrival);
}

// TTFT of a sample of the requests [from, to) that were not rejected, in order of arrival.
void sample_waits(const Records& records, std::size_t from, std::size_t to, core::Time end, std::vector<double>& out) {
  const std::size_t stride = std::max<std::size_t>(1, (to - from) / samples_per_group);
  for (std::size_t i = from; i < to; i += stride) {
    if (!records[i].rejected()) out.push_back(wait_s(records[i], end));
  }
}

// Time until the batches are full: unqueued TTFT plus two typical times from first to last token. Queueing lengthens
// neither. A request in flight counts with the time it has decoded so far.
double filling_s(const RequestLog& log, core::Time end) {
  const Records& records = log.records();
  std::vector<double> first_waits, decoding;
  sample_waits(records, 0, std::max<std::size_t>(1, records.size() / tenths), end, first_waits);
  const std::size_t stride = std::max<std::size_t>(1, records.size() / (samples_per_group * tenths));
  for (std::size_t i = 0; i < records.size(); i += stride) {
    if (records[i].rejected() || records[i].first_token == core::Time::never()) continue;
    decoding.push_back(core::to_seconds((records[i].completed() ? records[i].finish : end) - records[i].first_token));
  }
  return core::percentile(first_waits, 10) + 2 * core::percentile(decoding, 50);
}

// Largest rise of N over any span of the window.
double largest_climb(const std::vector<SystemBin>& bins) {
  std::int64_t lowest = 0, climb = 0;
  for (const SystemBin& bin : bins) {
    climb = std::max(climb, bin.at_end - lowest);
    lowest = std::min(lowest, bin.at_end);
  }
  return static_cast<double>(climb);
}

// Variance of N's change over the bins [from, size): the larger of the Poisson value and the measured one.
double change_variance(const std::vector<SystemBin>& bins, std::size_t from) {
  core::Running change;
  double events = 0;
  for (std::size_t i = from; i < bins.size(); ++i) {
    change.add(static_cast<double>(bins[i].arrivals - bins[i].departures));
    events += static_cast<double>(bins[i].arrivals + bins[i].departures);
  }
  return std::max(events, change.sample_variance() * static_cast<double>(change.count()));
}

}  // namespace

Waits measure_waits(const RequestLog& log, core::Time end) {
  const Records& records = log.records();
  Waits waits;
  std::vector<double> all, group;
  for (std::size_t g = 0; g < tenths; ++g) {
    group.clear();
    sample_waits(records, records.size() * g / tenths, records.size() * (g + 1) / tenths, end, group);
    if (group.empty()) continue;
    all.insert(all.end(), group.begin(), group.end());
    const double median = core::percentile(group, 50);
    if (g == 0) waits.first_s = median;
    if (g + 1 == tenths) waits.last_s = median;
    waits.slowest_s = std::max(waits.slowest_s, median);
  }
  waits.base_s = core::percentile(all, 10);
  return waits;
}

QueueGrowth measure_growth(const RequestLog& log, const NumberInSystem& n) {
  QueueGrowth g;
  if (log.counts().arrived == 0 || n.bins.empty()) return g;
  g.climb = largest_climb(n.bins);
  g.climb_noise = std::sqrt(change_variance(n.bins, 0));
  const double window_s = core::to_seconds(n.window_end - n.begin);
  const double fill = g.fill_s = filling_s(log, n.end);
  const double width = core::to_seconds(n.width);
  const std::size_t from = width > 0 ? static_cast<std::size_t>(std::min(fill / width, 1e9)) + 1 : n.bins.size();
  g.enough = log.counts().arrived >= min_arrivals;
  if (!g.enough || fill > window_s / 2 || from + 2 > n.bins.size()) return g;
  g.long_enough = true;
  const double start = static_cast<double>(n.bins[from - 1].at_end);
  g.growth = static_cast<double>(n.bins.back().at_end) - start;
  g.first_half = static_cast<double>(n.bins[(from + n.bins.size()) / 2 - 1].at_end) - start;
  g.noise = std::sqrt(change_variance(n.bins, from));
  for (std::size_t i = from; i < n.bins.size(); ++i) {
    g.arrivals += static_cast<double>(n.bins[i].arrivals);
    g.departures += static_cast<double>(n.bins[i].departures);
  }
  return g;
}

}  // namespace servecast::metrics
