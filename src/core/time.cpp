#include "core/time.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace servecast::core {

namespace {

// int64 picoseconds hold 9.22e6 s; half of it, so that the sum of two spans is representable.
constexpr double max_seconds = 4.6e6;

struct Unit {
  std::string_view name;
  double ps;
  double limit;  // values of this unit from here on read better in the next one
};

constexpr std::array<Unit, 8> units = {{{"ps", 1, 1000},
                                        {"ns", 1e3, 1000},
                                        {"us", 1e6, 1000},
                                        {"ms", 1e9, 1000},
                                        {"s", 1e12, 180},
                                        {"min", 60e12, 180},
                                        {"h", 3600e12, 72},
                                        {"d", 86400e12, 1e300}}};

std::string three_digits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude < 9.995) return fmt::format("{:.2f}", value);
  if (magnitude < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

Duration seconds(double s) {
  SERVECAST_ENSURE(std::isfinite(s) && std::abs(s) <= max_seconds, "{} s is outside the simulated range of {} s", s,
                   max_seconds);
  // nearbyint rounds half to even in the default rounding mode, which nothing here changes.
  return {static_cast<std::int64_t>(std::nearbyint(s * ps_per_second))};
}

std::string to_text(Duration d) {
  if (d.ps == 0) return "0 s";
  const double ps = static_cast<double>(d.ps);
  for (const Unit& unit : units) {
    const double value = ps / unit.ps;
    // 999.5 would print as 1000: it belongs to the next unit.
    if (std::abs(value) >= unit.limit - 0.5) continue;
    if (unit.ps == 1) return fmt::format("{} ps", d.ps);
    return fmt::format("{} {}", three_digits(value), unit.name);
  }
  return fmt::format("{} ps", d.ps);
}

}  // namespace servecast::core
