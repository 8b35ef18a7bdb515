// The tables of the summary, one function each. Each returns whole lines, or nothing where the result has no such part.
#pragma once

#include <string>

namespace servecast::metrics {
struct Result;
}

namespace servecast::report {

std::string latency_table(const metrics::Result& result);
std::string throughput_table(const metrics::Result& result);
std::string memory_table(const metrics::Result& result);
std::string shares_table(const metrics::Result& result);  // time and origin
std::string money_and_power_table(const metrics::Result& result);
std::string confidence_lines(const metrics::Result& result);

}  // namespace servecast::report
