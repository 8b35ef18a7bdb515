#include "report/figures.hpp"

#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::report {

namespace {

// Length of the well-formed UTF-8 sequence at i, or 0.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(i);
  const std::size_t length = lead < 0x80 ? 1 : (lead & 0xe0) == 0xc0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : 4;
  if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return 0;
  if (i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned char second = byte(i + 1);  // overlong forms, surrogates and values past U+10FFFF
  const bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                   (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return bad ? 0 : length;
}

// Byte offset after n code points. Requires: printable text.
std::size_t offset_of(std::string_view text, std::size_t n) {
  std::size_t i = 0;
  for (; n > 0 && i < text.size(); --n) i += sequence_length(text, i);
  return i;
}

}  // namespace

std::string figure(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1e11 || (magnitude > 0 && magnitude < 1e-4)) return fmt::format("{:.2e}", value);
  if (magnitude >= 999.5) return core::count_text(std::llround(value));
  return core::number_text(value);
}

std::string figure(double value, std::string_view unit) { return fmt::format("{} {}", figure(value), unit); }

std::string percent(double share) { return core::percent_text(share); }

std::string usd(double amount) { return fmt::format("${}", figure(amount)); }

std::string figure_if(bool known, double value) { return known ? figure(value) : "-"; }

std::string usd_if(bool known, double amount) { return known ? usd(amount) : "-"; }

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    const auto lead = static_cast<unsigned char>(text[i]);
    const bool c1 = length == 2 && lead == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (length == 0) {
      out += '?';
    } else if (lead < 0x20 || lead == 0x7f || c1) {
      out += ' ';
    } else {
      out.append(text.substr(i, length));
    }
    i += std::max<std::size_t>(1, length);
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return width;
}

std::string cut_to(std::string_view text, std::size_t width) {
  const std::string clean = printable(text);
  if (width_of(clean) <= width) return clean;
  return clean.substr(0, offset_of(clean, width - 3)) + "...";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  const std::string clean = printable(text);
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < clean.size();) {
    const std::size_t end = std::min(clean.find(' ', i), clean.size());
    std::string_view word = std::string_view(clean).substr(i, end - i);
    i = end + 1;
    if (word.empty()) continue;
    std::size_t length = width_of(word);
    if (used > 0 && used + 1 + length > width) {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    }
    for (; length > width; length -= width) {
      const std::size_t split = offset_of(word, width);
      lines.emplace_back(word.substr(0, split));
      word.remove_prefix(split);
    }
    if (used > 0) line += ' ';
    line += word;
    used += length + (used > 0 ? 1 : 0);
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace servecast::report
