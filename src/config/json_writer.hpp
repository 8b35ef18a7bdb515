// A described struct as a JSON document that reads back as the same struct: every key in declared order, defaults
// included, absent optionals left out, numbers exact. Values are written as they are, also ones a reader would refuse.
#pragma once

#include "config/fields.hpp"
#include "config/json_text.hpp"

#include <string>

namespace servecast::config {

// Writes the keys into the object that is open in out.
void write(JsonWriter& out, const Visit& body);

// The whole document, indented, with a newline at its end.
std::string write(const Visit& body);

// By value: describe() takes a mutable struct.
template <Described T>
std::string write(T value) {
  return write([&value](Fields& f) { describe(f, value); });
}
template <Described T>
void write(JsonWriter& out, T value) {
  write(out, [&value](Fields& f) { describe(f, value); });
}

}  // namespace servecast::config
