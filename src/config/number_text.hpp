// Numbers as documents and messages show them: the shortest text that reads back as the same double, whole numbers
// without an exponent up to 2^53, and ranges as "[1, 1048576]" or "(0, inf)".
#pragma once

#include "config/fields.hpp"

#include <cstdint>
#include <string>

namespace servecast::config {

std::string number_text(double value);  // Requires: finite
std::string range_text(const Range& range);
bool contains(const Range& range, double value);
// Ends of a range that say something: the widest doubles and 64-bit integers mean no bound.
bool has_min(const Range& range);
bool has_max(const Range& range);

}  // namespace servecast::config
