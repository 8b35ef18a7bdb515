// The variants of Source. A raised stop ends a source: it then announces no arrival. Requires of each: the config has
// passed check().
#pragma once

#include "workload/config.hpp"
#include "workload/length_gate.hpp"
#include "workload/source.hpp"
#include "workload/source_report.hpp"
#include "workload/stop_flag.hpp"

#include <cstdint>
#include <memory>

namespace servecast::workload {

std::unique_ptr<Source> make_open_loop(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                       SourceReport& report, StopFlag stop);
std::unique_ptr<Source> make_closed_loop(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                         SourceReport& report, StopFlag stop);
std::unique_ptr<Source> make_sessions(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                      SourceReport& report, StopFlag stop);
std::unique_ptr<Source> make_trace_source(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                          SourceReport& report, StopFlag stop);

}  // namespace servecast::workload
