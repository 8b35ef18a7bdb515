#include "config/number_text.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace servecast::config {

namespace {

constexpr double whole_limit = 9007199254740992.0;  // 2^53: below, every whole double is an exact integer
constexpr double no_bound = 9.2e18;                 // about 2^63: the ends of int64 and beyond

}  // namespace

std::string number_text(double value) {
  SERVECAST_ENSURE(std::isfinite(value), "a number to be written is {}", value);
  if (value == std::floor(value) && std::abs(value) < whole_limit) {
    return fmt::format("{}", static_cast<std::int64_t>(value));  // also writes -0 as 0
  }
  return fmt::format("{}", value);
}

bool has_min(const Range& range) { return range.min > -no_bound; }
bool has_max(const Range& range) { return range.max < no_bound; }

std::string range_text(const Range& range) {
  const std::string low = has_min(range) ? number_text(range.min) : "-inf";
  const std::string high = has_max(range) ? number_text(range.max) : "inf";
  const char left = has_min(range) && !range.min_open ? '[' : '(';
  const char right = has_max(range) && !range.max_open ? ']' : ')';
  return fmt::format("{}{}, {}{}", left, low, high, right);
}

bool contains(const Range& range, double value) {
  const bool low = range.min_open ? value > range.min : value >= range.min;
  const bool high = range.max_open ? value < range.max : value <= range.max;
  return low && high;
}

}  // namespace servecast::config
