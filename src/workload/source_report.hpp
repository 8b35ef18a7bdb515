// What a source did besides offering requests: rows it skipped, lengths it cut, requests it left out. Counted while the
// source runs, complete when it is exhausted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace servecast::workload {

struct SourceReport {
  std::uint64_t offered = 0;                       // requests drawn or read, those left out as overlong included
  std::uint64_t rejected_overlong = 0;             // left out because they do not fit max_model_len
  std::uint64_t clipped_requests = 0;              // requests of which something was cut to fit max_model_len
  std::uint64_t clipped_inputs = 0;                // prompts cut to fit max_model_len
  std::uint64_t clipped_outputs = 0;               // outputs cut to fit max_model_len
  std::uint64_t trace_rows = 0;                    // rows read, skipped ones included
  std::map<std::string, std::uint64_t> skipped;    // rows by reason
  std::map<std::string, std::uint64_t> irregular;  // rows taken with something amiss, by what it is
  std::uint64_t sessions = 0;                      // sessions begun
  std::uint64_t sessions_cut = 0;                  // sessions that ended early because the next turn would not fit
  std::vector<std::string> warnings;
};

}  // namespace servecast::workload
