#include "workload/csv_rows.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "workload/trace_values.hpp"

#include <algorithm>

namespace servecast::workload {

CsvRows::CsvRows(TraceLines lines, std::string_view format, std::initializer_list<std::string_view> columns)
    : lines_(std::move(lines)) {
  std::string_view line;
  if (!lines_.next(line)) throw core::InputError(lines_.path(), "is empty; a trace has at least one request");
  split(line);
  header_.assign(fields_.begin(), fields_.end());
  for (const std::string_view column : columns) {
    const auto found = std::find(header_.begin(), header_.end(), column);
    if (found == header_.end()) {
      throw core::InputError(lines_.place(), fmt::format("the header {} has no column {}, which format {} needs; check "
                                                         "the workload's format",
                                                         excerpt(line), column, format));
    }
    where_.push_back(static_cast<std::size_t>(found - header_.begin()));
  }
}

bool CsvRows::has(std::string_view column) const {
  return std::find(header_.begin(), header_.end(), column) != header_.end();
}

void CsvRows::split(std::string_view line) {
  fields_.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    while (field.starts_with(' ')) field.remove_prefix(1);
    while (field.ends_with(' ')) field.remove_suffix(1);
    fields_.push_back(field);
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

bool CsvRows::next() {
  std::string_view line;
  if (!lines_.next(line)) return false;
  split(line);
  if (fields_.size() != header_.size()) {
    throw core::InputError(
        lines_.place(), fmt::format("the row has {} where the header has {}; it is truncated or damaged",
                                    core::counted(static_cast<std::int64_t>(fields_.size()), "field"), header_.size()));
  }
  return true;
}

}  // namespace servecast::workload
