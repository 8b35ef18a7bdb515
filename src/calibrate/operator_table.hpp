// Rows of an operator table: a CSV file (plain, gzip or xz) with a header, one measured kernel a row, read as a stream.
// What the file measures is told by its columns, and by its name where two tables share them. GPU and stack come from
// the name "<gpu>__<stack>__<table>.csv.xz" unless given. Columns nothing asks for are reported, not guessed at.
#pragma once

#include "workload/trace_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::calibrate {

// Where and how a row was measured. Allowed in every table, and not read: a file is of one device.
inline constexpr std::string_view provenance_columns[] = {"samples", "spread",       "device",           "driver",
                                                          "l2",      "sm_clock_mhz", "memory_clock_mhz", "power_w"};

struct TableName {
  std::string gpu;    // "b200"; empty: the name does not say
  std::string stack;  // "vllm-0.19.0"
  std::string table;  // "gemm_perf"
};
TableName table_name(const std::string& path);

class OperatorTable {
 public:
  // Reads the header. Throws core::Error or core::InputError; an empty file is refused.
  explicit OperatorTable(const std::string& path);
  bool next();
  // False for a row with another number of fields than the header.
  bool whole() const { return fields_.size() == header_.size(); }
  bool has(std::string_view column) const;
  // Empty if there is no such column.
  std::string_view text(std::string_view column);
  // NaN if there is no such column or its field is no number.
  double number(std::string_view column);
  // Columns of the header that were never asked for, provenance left out.
  std::vector<std::string> unused() const;
  const std::vector<std::string>& header() const { return header_; }
  std::string place() const { return lines_.place(); }

 private:
  std::size_t index(std::string_view column);
  void split(std::string_view line);

  workload::TraceLines lines_;
  std::vector<std::string> header_;
  std::vector<char> asked_;
  std::vector<std::string_view> fields_;
};

}  // namespace servecast::calibrate
