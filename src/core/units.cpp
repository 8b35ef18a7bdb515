#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace servecast::core {

namespace {

// Three significant digits of a value that has been brought to [1, 1000).
std::string three_digits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude < 9.995) return fmt::format("{:.2f}", value);
  if (magnitude < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

template <std::size_t n>
std::string scaled(double value, double base, const std::array<std::string_view, n>& prefixes, std::string_view unit) {
  std::size_t step = 0;
  // 999.5 would print as 1000: it belongs to the next prefix.
  while (step + 1 < n && std::abs(value) >= base - 0.5) {
    value /= base;
    ++step;
  }
  const bool whole = step == 0 && value == std::floor(value);
  const std::string digits = whole ? fmt::format("{:.0f}", value) : three_digits(value);
  return prefixes[step].empty() && unit.empty() ? digits : fmt::format("{} {}{}", digits, prefixes[step], unit);
}

constexpr std::array<std::string_view, 6> binary = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
constexpr std::array<std::string_view, 6> decimal = {"", "k", "M", "G", "T", "P"};

}  // namespace

std::string bytes_text(double bytes) { return scaled(bytes, 1024.0, binary, "B"); }

std::string count_text(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

std::string short_text(double value) { return scaled(value, 1000.0, decimal, ""); }

std::string rate_text(double per_second, std::string_view what) { return scaled(per_second, 1000.0, decimal, what); }

std::string percent_text(double share) { return fmt::format("{:.1f} %", share * 100.0); }

std::string number_text(double value) {
  const double magnitude = std::abs(value);
  if (value == 0) return "0";
  if (magnitude >= 999.5) return fmt::format("{:.0f}", value);
  const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  return fmt::format("{:.{}f}", value, std::min(12, std::max(0, 2 - exponent)));
}

}  // namespace servecast::core
