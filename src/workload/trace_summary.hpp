// What a trace holds, in numbers: size, rate, burstiness, lengths and how much of the prompts an infinite cache would
// have. One pass; memory is 16 bytes a request and the set of prefix ids.
#pragma once

#include "workload/config.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace servecast::workload {

struct LengthSummary {
  std::int64_t total = 0;
  double mean = 0;
  double p50 = 0;  // percentiles: linear interpolation at (n - 1) p / 100
  double p90 = 0;
  double p99 = 0;
  std::int64_t max = 0;
};

struct TraceSummary {
  TraceFormat format = TraceFormat::Auto;
  std::uint64_t rows = 0;      // skipped ones included
  std::uint64_t requests = 0;  // usable rows
  std::map<std::string, std::uint64_t> skipped;
  std::map<std::string, std::uint64_t> irregular;  // usable rows with something amiss, by what it is
  double span_s = 0;                               // first to last request
  double mean_rate_per_s = 0;                      // (requests - 1) / span, 0 where the span is 0
  double gap_cv = 0;                               // coefficient of variation of the gaps between requests
  // Most requests in any minute counted from the first row, / 60 s; none for a trace shorter than a minute.
  std::optional<double> peak_minute_requests_per_s;
  LengthSummary input;
  LengthSummary output;
  std::int32_t block_tokens = 0;    // of a prefix id; 0: the trace has none
  std::uint64_t prefix_blocks = 0;  // ids in all
  std::uint64_t prefix_hits = 0;    // ids seen before, all ids before them in the same prompt hits too
  std::vector<std::string> notes;
};

TraceSummary summarise_trace(const std::string& path, TraceFormat format = TraceFormat::Auto);

}  // namespace servecast::workload
