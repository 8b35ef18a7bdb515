// A described struct as rows of a Markdown table for the manual: pointer, default, legal values, meaning. Elements of
// lists are named "*" in pointers.
#pragma once

#include "config/fields.hpp"

#include <string>
#include <string_view>

namespace servecast::config {

// With the header rows, one line a setting, in declared order.
std::string settings_table(const Visit& body);

template <Described T>
std::string settings_table() {
  T value{};
  return settings_table([&value](Fields& f) { describe(f, value); });
}

}  // namespace servecast::config
