// Rows of a JSON-lines trace: one flat object a line, keys by the format's schema. Other keys of a foreign format are
// passed over whatever they hold; in our own they are refused. The JSON library stays inside the .cpp.
#pragma once

#include "workload/trace_lines.hpp"
#include "workload/trace_reader.hpp"

#include <cstdint>
#include <string_view>

namespace servecast::workload {

struct JsonSchema {
  std::string_view format;
  std::string_view time_key;
  std::int64_t time_unit_ns = 1;
  std::string_view input_key;
  std::string_view output_key;
  std::string_view prefix_key;   // array of ids; the key may be absent from a row
  std::string_view session_key;  // "": the format has none
  bool strict = false;           // other keys are refused
};

// Parses one line into record (its line number included). Throws InputError at lines.place().
void parse_json_row(std::string_view line, const JsonSchema& schema, const TraceLines& lines, TraceRecord& record);

// The servecast header line {"servecast_trace": 1, "block_tokens": n}: n, or 0 when the line is not a header.
std::int32_t parse_servecast_header(std::string_view line, const TraceLines& lines);

}  // namespace servecast::workload
