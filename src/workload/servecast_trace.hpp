// The project's own trace format, JSON lines. The first line may be a header:
//   {"servecast_trace": 1, "block_tokens": 16}
// and every other line is a request, in order of arrival:
//   {"arrival_s": 0.5, "input_tokens": 120, "output_tokens": 30, "prefix": [7, 8], "session": 3}
// arrival_s: seconds, any origin, nine decimals count. prefix (optional): id i names the first (i + 1) * block_tokens
// tokens of the prompt together. session (optional): conversation the request belongs to. Other keys are ignored.
#pragma once

#include "workload/trace_reader.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace servecast::workload {

constexpr std::int32_t servecast_block_tokens = 16;  // of a file without header

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, std::int32_t block_tokens);  // writes the header
  void write(const TraceRecord& record);                      // Requires: arrival_ns >= 0, not before the last one

 private:
  std::ostream* out_;
  std::string line_;
};

}  // namespace servecast::workload
