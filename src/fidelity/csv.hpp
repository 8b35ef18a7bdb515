// A comma-separated file of measured rows: fields may be quoted and then hold commas, quotes (doubled) and line breaks.
// Strict: an unreadable file, an empty one, a repeated column or a row of another length is an error, none is skipped.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::fidelity {

using CsvRow = std::map<std::string, std::string>;  // column -> text

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
  std::vector<std::size_t> lines;  // of each row, from 1

  bool has(std::string_view column) const;
};

// place names the text in messages. Throws core::InputError with every problem.
CsvTable parse_csv(std::string_view text, const std::string& place);
// Throws core::Error if the file cannot be read.
CsvTable load_csv(const std::string& path);

// Text of a column, or "" where the file lacks it.
const std::string& text_of(const CsvRow& row, const std::string& column);

}  // namespace servecast::fidelity
