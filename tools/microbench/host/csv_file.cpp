#include "microbench/host/csv_file.hpp"

#include "microbench/host/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace servecast::microbench {

namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) c == ',' ? void(out.emplace_back()) : void(out.back() += c);
  return out;
}

}  // namespace

CsvFile::CsvFile(std::string path, std::vector<std::string> columns, Origin origin, core::Problems& problems)
    : path_(std::move(path)), columns_(std::move(columns)), origin_(std::move(origin)) {
  header_ = fmt::format("{}", fmt::join(columns_, ","));
  if (std::filesystem::exists(path_)) read(problems);
}

void CsvFile::read(core::Problems& problems) {
  std::ifstream in(path_, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw core::Error(fmt::format("cannot read {}", path_));
  const std::string all = text.str();
  const std::size_t last = all.rfind('\n');
  if (last == std::string::npos) {
    if (!header_.starts_with(all)) problems.add(path_, "is no table of this program; name another folder by --output");
    return;  // the header was being written
  }
  whole_ = last + 1;
  std::istringstream lines(all.substr(0, whole_));
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (number > 1) {
      check_row(line, number, problems);
    } else if (line != header_) {
      return problems.add(path_ + ":1",
                          "another header than this version's; move the file away or name another folder");
    }
    if (!problems.empty()) return;  // one is enough: the whole file is of another origin
  }
}

void CsvFile::check_row(const std::string& line, std::size_t number, core::Problems& problems) {
  const std::string place = fmt::format("{}:{}", path_, number);
  const std::vector<std::string> fields = split(line);
  if (fields.size() != columns_.size())
    return problems.add(place, "{} fields instead of {}; remove the damaged line", fields.size(), columns_.size());
  const std::size_t value = columns_.size() - std::size(provenance) - 1;
  const std::size_t first = value + 1;
  const auto differs = [&](std::string_view column, const std::string& now) {
    const auto at = std::find(columns_.begin() + static_cast<std::ptrdiff_t>(first), columns_.end(), column);
    const std::string& then = fields[static_cast<std::size_t>(at - columns_.begin())];
    if (then != now)
      problems.add(place, "measured with {} \"{}\", this run has \"{}\"; name another folder by --output", column, then,
                   now);
    return then != now;
  };
  if (differs("device", origin_.device) || differs("driver", origin_.driver) || differs("l2", origin_.l2)) return;
  keys_.insert(
      fmt::format("{}", fmt::join(fields.begin() + 1, fields.begin() + static_cast<std::ptrdiff_t>(value), ",")));
}

void CsvFile::open() {
  std::error_code error;
  if (std::filesystem::exists(path_)) std::filesystem::resize_file(path_, whole_, error);
  if (!error) out_.open(path_, std::ios::binary | std::ios::app);
  if (error || !out_) throw core::Error(fmt::format("cannot write {}", path_));
  if (whole_ == 0) out_ << header_ << '\n';
}

void CsvFile::append(const std::string& key, const std::string& line) {
  if (!out_.is_open()) open();
  out_ << line + "\n" << std::flush;
  if (!out_) throw core::Error(fmt::format("cannot write {}; is the disk full?", path_));
  keys_.insert(key);
}

}  // namespace servecast::microbench
