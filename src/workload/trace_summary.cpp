#include "workload/trace_summary.hpp"

#include "core/statistics.hpp"
#include "workload/trace.hpp"

#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <array>

namespace servecast::workload {

namespace {

LengthSummary summary_of(std::vector<std::int64_t>& lengths) {
  LengthSummary s;
  for (const std::int64_t length : lengths) {
    s.total += length;
    s.max = std::max(s.max, length);
  }
  if (lengths.empty()) return s;
  s.mean = static_cast<double>(s.total) / static_cast<double>(lengths.size());
  constexpr std::array<double, 3> ps = {50, 90, 99};
  const std::vector<double> values = core::percentiles(std::span<std::int64_t>(lengths), ps);
  s.p50 = values[0];
  s.p90 = values[1];
  s.p99 = values[2];
  return s;
}

// Gaps and whole minutes, fed in order of arrival.
class Pace {
 public:
  void add(std::int64_t at_ns) {
    if (count_++ > 0) {
      gaps_.add(static_cast<double>(at_ns - last_ns_) / 1e9);
    } else {
      first_ns_ = at_ns;
    }
    last_ns_ = at_ns;
    constexpr std::int64_t minute_ns = 60000000000;
    if (at_ns / minute_ns != minute_) {
      minute_ = at_ns / minute_ns;
      in_minute_ = 0;
    }
    peak_ = std::max(peak_, ++in_minute_);
  }

  void fill(TraceSummary& s) const {
    s.span_s = static_cast<double>(last_ns_ - first_ns_) / 1e9;
    if (s.span_s > 0) s.mean_rate_per_s = static_cast<double>(count_ - 1) / s.span_s;
    if (gaps_.mean() > 0) s.gap_cv = gaps_.deviation() / gaps_.mean();
    if (s.span_s >= 60) s.peak_minute_requests_per_s = static_cast<double>(peak_) / 60;
  }

 private:
  core::Running gaps_;
  std::uint64_t count_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t minute_ = -1;
  std::uint64_t in_minute_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace

TraceSummary summarise_trace(const std::string& path, TraceFormat format) {
  Trace trace(path, format);
  TraceSummary s;
  Pace pace;
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> outputs;
  boost::unordered_flat_set<std::uint64_t> seen;
  TraceRecord record;
  while (trace.next(record)) {
    pace.add(record.arrival_ns);
    inputs.push_back(record.input_tokens);
    outputs.push_back(record.output_tokens);
    s.prefix_blocks += record.prefix.size();
    std::size_t hits = 0;
    while (hits < record.prefix.size() && seen.contains(record.prefix[hits])) ++hits;
    s.prefix_hits += hits;
    for (std::size_t i = hits; i < record.prefix.size(); ++i) seen.insert(record.prefix[i]);
  }
  s.format = trace.format();
  s.rows = trace.rows();
  s.requests = inputs.size();
  s.skipped = trace.skipped();
  s.irregular = trace.irregular();
  s.block_tokens = trace.block_tokens();
  s.notes = trace.notes();
  pace.fill(s);
  s.input = summary_of(inputs);
  s.output = summary_of(outputs);
  return s;
}

}  // namespace servecast::workload
