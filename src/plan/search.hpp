// Where a yes turns into a no: exponential bracketing, then bisection. The question is asked of a function, which knows
// nothing of this search; it must answer yes up to some point and no beyond, and is asked once per point.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace servecast::plan {

struct Interval {
  double low = 0;                                         // largest point known to be good; 0: none is
  double high = std::numeric_limits<double>::infinity();  // smallest known to be bad; infinite: none is
};

struct SearchOptions {
  double tolerance = 0.02;  // ends when high / low <= 1 + tolerance
  int most_doublings = 24;  // up from the start
  int most_halvings = 24;   // down from it
};

// Points are positive and the bisection is of their logarithm. Requires: start > 0, tolerance > 0.
Interval search(double start, const SearchOptions& options, const std::function<bool(double)>& good);

// The fewest n in [1, most] for which enough(n) holds, or nothing. enough must stay true from there on.
std::optional<std::int32_t> fewest(std::int32_t most, const std::function<bool(std::int32_t)>& enough);

}  // namespace servecast::plan
