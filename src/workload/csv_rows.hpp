// Rows of a comma-separated trace with a header: the columns wanted are found by name, others are passed over. No
// quoting: none of the formats uses it.
#pragma once

#include "workload/trace_lines.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::workload {

class CsvRows {
 public:
  // Reads the header. format names the trace format in messages.
  CsvRows(TraceLines lines, std::string_view format, std::initializer_list<std::string_view> columns);
  bool next();
  std::string_view value(std::size_t column) const { return fields_[where_[column]]; }  // by order in `columns`
  bool has(std::string_view column) const;
  const TraceLines& lines() const { return lines_; }

 private:
  void split(std::string_view line);

  TraceLines lines_;
  std::vector<std::string> header_;
  std::vector<std::size_t> where_;
  std::vector<std::string_view> fields_;
};

}  // namespace servecast::workload
