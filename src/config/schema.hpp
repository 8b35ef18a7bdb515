// A described struct as a JSON Schema (draft-07): types, ranges, choices, defaults, required keys, meanings; unknown
// keys refused. For editors and for other programs: the strict reader stays the judge (it also allows comments, and
// checks rules between keys that a schema does not express).
#pragma once

#include "config/fields.hpp"

#include <string>
#include <string_view>

namespace servecast::config {

std::string json_schema(std::string_view title, const Visit& body);

template <Described T>
std::string json_schema(std::string_view title) {
  T value{};
  return json_schema(title, [&value](Fields& f) { describe(f, value); });
}

}  // namespace servecast::config
