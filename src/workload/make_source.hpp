// Builds the source a workload asks for. Errors of the workload's content (bad rows, requests that do not fit) are
// InputError, some of them only when the row is reached: traces stream.
#pragma once

#include "workload/config.hpp"
#include "workload/source.hpp"
#include "workload/source_report.hpp"
#include "workload/stop_flag.hpp"

#include <cstdint>
#include <memory>

namespace servecast::workload {

struct SourceLimits {
  std::int32_t max_model_len = 0;  // longest prompt + output; 0: no limit
  StopFlag stop = {};              // raised: the source ends
};

// report must outlive the source. Throws InputError where check() finds something.
std::unique_ptr<Source> make_source(const WorkloadConfig& c, std::uint64_t seed, const SourceLimits& limits,
                                    SourceReport& report);

// The policy for requests that are too long: as stated, else an error for lengths that are given one by one (fixed,
// joint, traces), clipping for drawn ones, the end of the session for sessions.
Overlong overlong_policy(const WorkloadConfig& c);

}  // namespace servecast::workload
