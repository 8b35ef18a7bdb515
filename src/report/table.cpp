#include "report/table.hpp"

#include "core/error.hpp"
#include "report/figures.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace servecast::report {

namespace {

constexpr std::size_t spacing = 2;
constexpr std::size_t narrowest = 4;  // a cut cell keeps a letter before its dots

}  // namespace

void Table::row(std::vector<std::string> cells) {
  SERVECAST_ENSURE(cells.size() <= columns_.size(), "{} cells in a table of {} columns", cells.size(), columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t room) const {
  std::vector<std::size_t> w;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = std::max(columns_[c].least, width_of(printable(columns_[c].title)));
    for (const auto& cells : rows_) {
      if (!cells.empty()) widest = std::max(widest, width_of(cells[c]));
    }
    w.push_back(widest);
  }
  const auto total = [&] { return std::accumulate(w.begin(), w.end(), w.empty() ? 0 : (w.size() - 1) * spacing); };
  for (const Align align : {Align::Left, Align::Right}) {
    while (total() > room) {
      std::size_t widest = w.size();
      for (std::size_t c = 0; c < w.size(); ++c) {
        if (columns_[c].align == align && w[c] > narrowest && (widest == w.size() || w[c] > w[widest])) widest = c;
      }
      if (widest == w.size()) break;
      --w[widest];
    }
  }
  return w;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                        std::size_t indent) const {
  std::string out(indent, ' ');
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) out.append(spacing, ' ');
    const std::string cell =
        width_of(cells[c]) > widths[c] ? cut_to(cells[c], std::max<std::size_t>(3, widths[c])) : cells[c];
    const std::size_t padding = widths[c] - std::min(widths[c], width_of(cell));
    if (columns_[c].align == Align::Right) out.append(padding, ' ');
    out += cell;
    if (columns_[c].align == Align::Left) out.append(padding, ' ');
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string Table::text(std::size_t indent, std::size_t width) const {
  const std::vector<std::size_t> w = widths(width - std::min(width, indent));
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(printable(column.title));
  std::string out;
  if (std::any_of(titles.begin(), titles.end(), [](const std::string& t) { return !t.empty(); })) {
    out += line(titles, w, indent);
  }
  for (const auto& cells : rows_) out += line(cells, w, indent);
  return out;
}

}  // namespace servecast::report
