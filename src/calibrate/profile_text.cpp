#include "calibrate/profile_text.hpp"

#include "config/json_writer.hpp"

#include <algorithm>
#include <vector>

namespace servecast::calibrate {

namespace {

constexpr std::size_t line_width = 118;
constexpr std::string_view number_characters = "0123456789+-.eE,";

// Calls visit(i) for every character outside of strings, and for the quotes.
template <class Visit>
void outside_strings(std::string_view text, const Visit& visit) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '"') inside = !inside;
    if (!inside || text[i] == '"') visit(i);
  }
}

std::string without_spaces(std::string_view json) {
  std::string out;
  std::size_t copied = 0;
  outside_strings(json, [&](std::size_t i) {
    if (json[i] != ' ' && json[i] != '\n') return;
    out += json.substr(copied, i - copied);
    copied = i + 1;
  });
  out += json.substr(copied);
  return out;
}

// The members of an object or list, without its brackets.
std::vector<std::string_view> members(std::string_view value) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t first = 1;
  outside_strings(value, [&](std::size_t i) {
    const char c = value[i];
    if (c == ']' || c == '}') --depth;
    const bool ends = (c == ',' && depth == 1) || (depth == 0 && i + 1 == value.size());
    if (ends && i > first) out.push_back(value.substr(first, i - first));
    if (ends) first = i + 1;
    if (c == '[' || c == '{') ++depth;
  });
  return out;
}

// What a reader assumes anyway: an empty text or list, a score of no rows.
bool is_default(std::string_view value) {
  return value == "\"\"" || value == "[]" || value.starts_with("{\"rows\":0,");
}

// Without the defaults of nested objects; members of the document itself stay.
std::string without_defaults(std::string_view value, bool nested) {
  const bool object = value.front() == '{';
  if (!object && value.front() != '[') return std::string(value);
  std::string out(1, value.front());
  for (const std::string_view member : members(value)) {
    const std::size_t start = object ? member.find("\":") + 2 : 0;
    if (object && nested && is_default(member.substr(start))) continue;
    if (out.size() > 1) out += ',';
    out += member.substr(0, start);
    out += without_defaults(member.substr(start), true);
  }
  return out + value.back();
}

void fold(std::string_view list, std::size_t indent, std::size_t width, std::string& out) {
  std::size_t column = out.size() - (out.rfind('\n') + 1);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size() - 1);
    if (column + comma + 1 > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    }
    out += list.substr(0, comma + 1);
    column += comma + 1;
    list.remove_prefix(comma + 1);
  }
}

void lay_out(std::string_view value, std::size_t indent, std::size_t width, std::string& out) {
  const std::size_t column = out.size() - (out.rfind('\n') + 1);
  const bool nested = !value.empty() && (value.front() == '{' || value.front() == '[');
  if (!nested || column + value.size() + 1 <= width) {
    out += value;
    return;
  }
  if (value.front() == '[' && value.find_first_not_of(number_characters, 1) == value.size() - 1)
    return fold(value, indent + 1, width, out);
  out += value.front();
  const auto start_line = [&] { out += '\n' + std::string(indent + 1, ' '); };
  start_line();
  bool fresh = true;  // whether the line holds nothing yet
  for (std::string_view member : members(value)) {
    const bool last = member.end() == value.end() - 1;
    if (!fresh && out.size() - (out.rfind('\n') + 1) + member.size() + 1 > width) start_line();
    const std::size_t line = out.rfind('\n');
    if (value.front() == '{') {
      const std::size_t colon = member.find("\":") + 2;
      out += member.substr(0, colon);
      member.remove_prefix(colon);
    }
    lay_out(member, indent + 1, width, out);
    if (last) break;
    out += ',';
    fresh = out.rfind('\n') != line;  // after a value of several lines a new one begins
    if (fresh) start_line();
  }
  out += '\n' + std::string(indent, ' ');
  out += value.back();
}

}  // namespace

std::string compact_text(std::string_view json, std::size_t width) {
  std::string out;
  lay_out(without_spaces(json), 0, width, out);
  return out + "\n";
}

std::string profile_text(const cost::kernels::KernelProfile& profile) {
  return compact_text(without_defaults(without_spaces(config::write(profile)), false), line_width);
}

}  // namespace servecast::calibrate
