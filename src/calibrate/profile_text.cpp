#include "calibrate/profile_text.hpp"

#include "config/json_writer.hpp"

#include <vector>

namespace servecast::calibrate {

namespace {

constexpr std::size_t line_width = 118;
constexpr std::string_view number_characters = "0123456789+-.eE,";

std::string_view trimmed(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  return start == std::string_view::npos ? std::string_view{} : line.substr(start);
}

bool is_number(std::string_view line) {
  const std::string_view t = trimmed(line);
  return !t.empty() && t.find_first_not_of(number_characters) == std::string_view::npos;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

// Numbers, already with their commas, from `first` on; ends at the first line that is none.
std::size_t fold(const std::vector<std::string_view>& lines, std::size_t first, std::size_t width, std::string& out) {
  const std::size_t indent = lines[first].find_first_not_of(' ');
  std::size_t column = out.size() - out.rfind('\n') - 1;
  std::size_t i = first;
  for (bool start = true; i < lines.size() && is_number(lines[i]); ++i, start = false) {
    const std::string_view number = trimmed(lines[i]);
    if (column + number.size() + 1 > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!start) {
      out += ' ';
      ++column;
    }
    out += number;
    column += number.size();
  }
  return i;
}

}  // namespace

std::string fold_numbers(std::string_view json, std::size_t width) {
  const std::vector<std::string_view> lines = lines_of(json);
  std::string out;
  for (std::size_t i = 0; i < lines.size();) {
    out += lines[i];
    const bool list = lines[i].ends_with('[') && i + 1 < lines.size() && is_number(lines[i + 1]);
    ++i;
    if (list) {
      i = fold(lines, i, width, out);
      out += trimmed(lines[i++]);
    }
    out += '\n';
  }
  return out;
}

std::string profile_text(const cost::kernels::KernelProfile& profile) {
  return fold_numbers(config::write(profile), line_width);
}

}  // namespace servecast::calibrate
