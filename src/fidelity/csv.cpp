#include "fidelity/csv.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

namespace servecast::fidelity {

namespace {

// One record from `at`; moves `at` behind it and `line` by the line breaks passed.
std::vector<std::string> next_record(std::string_view text, std::size_t& at, std::size_t& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (c == '"') {
      const bool doubled = quoted && at + 1 < text.size() && text[at + 1] == '"';
      if (doubled)
        fields.back() += text[++at];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++at;
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

bool blank(const std::vector<std::string>& fields) { return fields.size() == 1 && fields[0].empty(); }

void check_header(const CsvTable& table, const std::string& place, core::Problems& problems) {
  if (table.header.empty() || blank(table.header))
    problems.add(place, "the file is empty; its first line names the columns");
  std::set<std::string> seen;
  for (const std::string& column : table.header)
    if (!seen.insert(column).second) problems.add(place + ":1", "column \"{}\" is named twice", column);
}

}  // namespace

bool CsvTable::has(std::string_view column) const {
  return std::find(header.begin(), header.end(), column) != header.end();
}

CsvTable parse_csv(std::string_view text, const std::string& place) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  CsvTable table;
  core::Problems problems;
  std::size_t at = 0;
  std::size_t line = 1;
  if (!text.empty()) table.header = next_record(text, at, line);
  check_header(table, place, problems);
  problems.raise_if_any();
  while (at < text.size()) {
    const std::size_t start = line;
    const std::vector<std::string> fields = next_record(text, at, line);
    if (blank(fields)) continue;
    if (fields.size() != table.header.size()) {
      problems.add(place + ":" + std::to_string(start), "{} where the header has {}",
                   core::counted(static_cast<std::int64_t>(fields.size()), "field"), table.header.size());
      continue;
    }
    CsvRow& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < fields.size(); ++i) row[table.header[i]] = fields[i];
    table.lines.push_back(start);
  }
  problems.raise_if_any();
  return table;
}

CsvTable load_csv(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()).good()) {
    if (in && in.peek() == std::ifstream::traits_type::eof()) return parse_csv("", path);
    throw core::Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  return parse_csv(text.str(), path);
}

const std::string& text_of(const CsvRow& row, const std::string& column) {
  static const std::string nothing;
  const auto found = row.find(column);
  return found == row.end() ? nothing : found->second;
}

}  // namespace servecast::fidelity
