// The readers of the formats. Each takes the lines from the first on and throws InputError when the first line is not
// that of its format.
#pragma once

#include "workload/trace_lines.hpp"
#include "workload/trace_reader.hpp"

#include <memory>

namespace servecast::workload {

std::unique_ptr<TraceReader> make_azure_reader(TraceLines lines);
std::unique_ptr<TraceReader> make_burstgpt_reader(TraceLines lines);
std::unique_ptr<TraceReader> make_splitwise_reader(TraceLines lines);
std::unique_ptr<TraceReader> make_mooncake_reader(TraceLines lines);
std::unique_ptr<TraceReader> make_bailian_reader(TraceLines lines);
std::unique_ptr<TraceReader> make_servecast_reader(TraceLines lines);

}  // namespace servecast::workload
