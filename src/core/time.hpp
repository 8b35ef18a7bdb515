// Simulated time: integer picoseconds, so that two times are equal exactly when they are the same instant.
// int64 covers 106 days; a run ends after 46 days (longest_run_s), so that the sum of any two of its times is a time.
// Conversions from seconds round half to even, once, at the edge.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace servecast::core {

struct Duration {
  std::int64_t ps = 0;

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration& operator+=(Duration other) {
    ps += other.ps;
    return *this;
  }
  constexpr Duration& operator-=(Duration other) {
    ps -= other.ps;
    return *this;
  }
};

struct Time {
  std::int64_t ps = 0;

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Duration d) {
    ps += d.ps;
    return *this;
  }
  static constexpr Time never() { return {std::numeric_limits<std::int64_t>::max()}; }
};

constexpr Duration operator+(Duration a, Duration b) { return {a.ps + b.ps}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ps - b.ps}; }
constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ps * n}; }
constexpr Time operator+(Time t, Duration d) { return {t.ps + d.ps}; }
constexpr Time operator-(Time t, Duration d) { return {t.ps - d.ps}; }
constexpr Duration operator-(Time a, Time b) { return {a.ps - b.ps}; }

constexpr double ps_per_second = 1e12;

// No run lasts longer, and no event of a run lies later than a step beyond it.
constexpr double longest_run_s = 4e6;

// Requires: |s| <= 4.6e6 (53 days), half of what int64 holds; larger or non-finite values throw LogicError.
Duration seconds(double s);
inline Time end_of_time() { return Time{} + seconds(longest_run_s); }  // of every run
inline Duration milliseconds(double ms) { return seconds(ms * 1e-3); }
inline Duration microseconds(double us) { return seconds(us * 1e-6); }
inline constexpr double to_seconds(Duration d) { return static_cast<double>(d.ps) / ps_per_second; }
inline constexpr double to_seconds(Time t) { return static_cast<double>(t.ps) / ps_per_second; }
inline constexpr double to_ms(Duration d) { return static_cast<double>(d.ps) / 1e9; }

// Text with a fitting unit and three significant digits: "12.3 ms".
std::string to_text(Duration d);

}  // namespace servecast::core
