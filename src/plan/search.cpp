#include "plan/search.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::plan {

namespace {

Interval bracket(double start, const SearchOptions& options, const std::function<bool(double)>& good) {
  Interval in;
  const bool up = good(start);
  (up ? in.low : in.high) = start;
  const int most = up ? options.most_doublings : options.most_halvings;
  for (int i = 1; i <= most; ++i) {
    const double point = std::ldexp(start, up ? i : -i);
    const bool yes = good(point);
    (yes ? in.low : in.high) = point;
    if (yes != up) break;
  }
  return in;
}

}  // namespace

Interval search(double start, const SearchOptions& options, const std::function<bool(double)>& good) {
  SERVECAST_ENSURE(start > 0 && options.tolerance > 0, "start {}, tolerance {}", start, options.tolerance);
  Interval in = bracket(start, options, good);
  if (in.low <= 0 || std::isinf(in.high)) return in;
  while (in.high / in.low > 1 + options.tolerance) {
    const double middle = std::sqrt(in.low * in.high);
    if (middle <= in.low || middle >= in.high) break;
    (good(middle) ? in.low : in.high) = middle;
  }
  return in;
}

std::optional<std::int32_t> fewest(std::int32_t most, const std::function<bool(std::int32_t)>& enough) {
  std::int32_t low = 0;  // known to be too few
  std::int32_t high = 1;
  while (!enough(high)) {
    if (high >= most) return std::nullopt;
    low = high;
    high = high > most / 2 ? most : high * 2;
  }
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace servecast::plan
