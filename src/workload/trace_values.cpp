#include "workload/trace_values.hpp"

#include "config/utf8.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

namespace servecast::workload {

namespace {

constexpr std::int64_t ns_per_s = 1000000000;
constexpr double latest_ns = 9.2e18;  // what 64 bits hold

[[noreturn]] void refuse(const FieldPlace& at, std::string_view text, std::string_view expected) {
  throw core::InputError(at.place, fmt::format("{} is {}; expected {}", at.name, excerpt(text), expected));
}

bool all_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// Digits after the decimal point as nanoseconds of a unit: the part below a nanosecond is cut.
std::int64_t fraction_ns(std::string_view digits, std::int64_t ns_per_unit) {
  std::int64_t sum = 0;
  std::int64_t weight = ns_per_unit;
  for (const char c : digits) {
    // ns_per_unit is a power of ten, so the weights divide evenly until they vanish.
    weight /= 10;
    if (weight == 0) break;
    sum += (c - '0') * weight;
  }
  return sum;
}

// Forms with an exponent.
std::int64_t float_ns(std::string_view text, std::int64_t ns_per_unit, const FieldPlace& at) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) refuse(at, text, "a number");
  const double ns = value * static_cast<double>(ns_per_unit);
  if (ns < 0) refuse(at, text, "a time >= 0");
  if (ns > latest_ns) refuse(at, text, "a time below 9.2e9 s");
  return std::llrint(ns);
}

// The number made by `count` digits at `from`, within [low, high].
int date_part(std::string_view text, std::size_t from, std::size_t count, int low, int high, const FieldPlace& at) {
  constexpr std::string_view expected = "a time like 2024-05-10 00:00:00.009930 or 2024-05-10T00:00:00.009Z";
  if (from + count > text.size() || !all_digits(text.substr(from, count))) refuse(at, text, expected);
  int value = 0;
  std::from_chars(text.data() + from, text.data() + from + count, value);
  if (value < low || value > high) refuse(at, text, expected);
  return value;
}

// Seconds east of Greenwich of what follows the fraction: nothing, Z, +HH:MM or +HHMM.
std::int64_t offset_s(std::string_view zone, std::string_view text, const FieldPlace& at) {
  if (zone.empty() || zone == "Z") return 0;
  if (zone[0] != '+' && zone[0] != '-') refuse(at, text, "nothing, Z or an offset like +00:00 after the time");
  const bool colon = zone.size() == 6 && zone[3] == ':';
  if (!colon && zone.size() != 5) refuse(at, text, "an offset like +00:00 after the time");
  const int hours = date_part(zone, 1, 2, 0, 23, at);
  const int minutes = date_part(zone, colon ? 4 : 3, 2, 0, 59, at);
  const std::int64_t seconds = hours * 3600 + minutes * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::string excerpt(std::string_view text) {
  return text.empty() ? "empty" : fmt::format("'{}'", config::printable(text, 40));
}

std::int32_t token_count(std::string_view text, const FieldPlace& at) {
  constexpr std::string_view expected = "a whole number from 0 to 2147483647";
  if (!all_digits(text)) refuse(at, text, expected);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(at, text, expected);
  return value;
}

std::int64_t decimal_ns(std::string_view text, std::int64_t ns_per_unit, const FieldPlace& at) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view digits = point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (!all_digits(whole) || (!digits.empty() && !all_digits(digits))) return float_ns(text, ns_per_unit, at);
  std::int64_t units = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), units);
  if (error != std::errc{} || static_cast<double>(units) * static_cast<double>(ns_per_unit) > latest_ns) {
    refuse(at, text, "a time below 9.2e9 s");
  }
  return units * ns_per_unit + fraction_ns(digits, ns_per_unit);
}

std::int64_t date_ns(std::string_view text, const FieldPlace& at) {
  const int year = date_part(text, 0, 4, 1970, 2200, at);
  const int month = date_part(text, 5, 2, 1, 12, at);
  const int day = date_part(text, 8, 2, 1, 31, at);
  const int hour = date_part(text, 11, 2, 0, 23, at);
  const int minute = date_part(text, 14, 2, 0, 59, at);
  const int second = date_part(text, 17, 2, 0, 60, at);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  const bool separators =
      text[4] == '-' && text[7] == '-' && (text[10] == ' ' || text[10] == 'T') && text[13] == ':' && text[16] == ':';
  if (!separators || !date.ok()) refuse(at, text, "a time like 2024-05-10 00:00:00.009930");
  std::string_view rest = text.substr(19);
  std::int64_t fraction = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) refuse(at, text, "digits after the decimal point");
    fraction = fraction_ns(rest.substr(0, digits), ns_per_s);
    rest.remove_prefix(digits);
  }
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  const std::int64_t of_day = hour * 3600 + minute * 60 + second;
  return (days * 86400 + of_day - offset_s(rest, text, at)) * ns_per_s + fraction;
}

}  // namespace servecast::workload
