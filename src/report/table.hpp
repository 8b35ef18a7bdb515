// A plain table for the terminal: columns two spaces apart, no lines drawn, never wider than asked. Left columns give
// way (cut with "...") where the content is too wide; numbers are never cut before text is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace servecast::report {

inline constexpr std::size_t terminal_width = 80;

enum class Align : std::uint8_t { Left, Right };

struct Column {
  std::string title;
  Align align = Align::Right;
  std::size_t least = 0;  // minimal width
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // missing cells are empty. Requires: no more cells than columns
  void gap() { rows_.emplace_back(); }       // an empty line
  bool empty() const { return rows_.empty(); }
  // Every line ends with a newline and carries no trailing spaces. The title line is left out when no column has one.
  std::string text(std::size_t indent = 2, std::size_t width = terminal_width) const;

 private:
  std::vector<std::size_t> widths(std::size_t room) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   std::size_t indent) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace servecast::report
