#include "calibrate/operator_table.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace servecast::calibrate {

namespace {

std::string without_suffix(std::string text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
  return text;
}

}  // namespace

TableName table_name(const std::string& path) {
  std::string name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  for (const std::string_view suffix : {".xz", ".gz", ".csv"}) name = without_suffix(std::move(name), suffix);
  const std::size_t first = name.find("__");
  const std::size_t second = first == std::string::npos ? first : name.find("__", first + 2);
  if (second == std::string::npos) return {"", "", name};
  return {without_suffix(name.substr(0, first), "_sxm"), name.substr(first + 2, second - first - 2),
          name.substr(second + 2)};
}

OperatorTable::OperatorTable(const std::string& path) : lines_(path) {
  std::string_view line;
  if (!lines_.next(line)) throw core::InputError(path, "the file is empty; an operator table starts with a header");
  split(line);
  for (const std::string_view name : fields_) header_.emplace_back(name);
  asked_.assign(header_.size(), 0);
}

void OperatorTable::split(std::string_view line) {
  fields_.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    fields_.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

bool OperatorTable::next() {
  std::string_view line;
  if (!lines_.next(line)) return false;
  split(line);
  return true;
}

bool OperatorTable::has(std::string_view column) const {
  return std::find(header_.begin(), header_.end(), column) != header_.end();
}

std::size_t OperatorTable::index(std::string_view column) {
  const auto i = static_cast<std::size_t>(std::find(header_.begin(), header_.end(), column) - header_.begin());
  if (i < header_.size()) asked_[i] = 1;
  return i;
}

std::string_view OperatorTable::text(std::string_view column) {
  const std::size_t i = index(column);
  return i < fields_.size() ? fields_[i] : std::string_view{};
}

double OperatorTable::number(std::string_view column) {
  const std::string_view field = text(column);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size()) return std::numeric_limits<double>::quiet_NaN();
  return value;
}

std::vector<std::string> OperatorTable::unused() const {
  const auto provenance = [](std::string_view name) {
    return std::find(std::begin(provenance_columns), std::end(provenance_columns), name) !=
           std::end(provenance_columns);
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < header_.size(); ++i)
    if (asked_[i] == 0 && !provenance(header_[i])) out.push_back(header_[i]);
  return out;
}

}  // namespace servecast::calibrate
