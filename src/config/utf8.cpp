#include "config/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace servecast::config {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

// Length announced by a first byte, and the smallest code point that needs it.
struct Form {
  std::size_t length;
  unsigned smallest;
};

Form form_of(unsigned char first) {
  if (first < 0x80) return {1, 0};
  if (first >= 0xC2 && first < 0xE0) return {2, 0x80};
  if (first >= 0xE0 && first < 0xF0) return {3, 0x800};
  if (first >= 0xF0 && first < 0xF5) return {4, 0x10000};
  return {0, 0};
}

constexpr std::size_t longest_part = 200;
constexpr std::size_t kept_of_part = 40;

// Bytes of the quotation that a text starts with, else of its first word. A quotation ends on its own line.
std::size_t part_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line[0] == '"') {
    const std::size_t end = line.find('"', 1);
    if (end != std::string_view::npos) return end + 1;
  }
  return std::min(line.find_first_of(" \"", 1), line.size());
}

}  // namespace

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t utf8_character(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const Form form = form_of(first);
  if (form.length <= 1) return form.length;
  if (text.size() < form.length) return 0;
  unsigned point = first & (0xFFu >> (form.length + 1));
  for (std::size_t i = 1; i < form.length; ++i) {
    if (!continues(text[i])) return 0;
    point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < form.smallest || surrogate || point > 0x10FFFF ? 0 : form.length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  const std::size_t whole = text.size();
  std::string result;
  while (!text.empty()) {
    if (result.size() >= limit) return fmt::format("{}... ({} bytes)", result, whole);
    const std::size_t length = utf8_character(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool control = length == 1 && (first < 0x20 || first == 0x7F);
    const bool control1 = length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0 || control || control1) {
      result += '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string brief(std::string_view message) {
  std::string result;
  while (!message.empty()) {
    const char first = message[0];
    if (first == '\n' || first == ' ') {
      result += first;
      message.remove_prefix(1);
      continue;
    }
    const std::size_t part = part_of(message);
    result += printable(message.substr(0, part), part > longest_part ? kept_of_part : part);
    if (part > longest_part && first == '"') result += '"';
    message.remove_prefix(part);
  }
  return result;
}

}  // namespace servecast::config
