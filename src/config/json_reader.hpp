// Fills a described struct from a document, strictly, and reports every problem in one pass: unknown keys with the
// nearest known one, wrong types, values out of range, missing keys, conflicting forms. Keys the document lacks keep
// the struct's defaults (an absent object counts as empty, unless optional).
#pragma once

#include "config/document.hpp"
#include "config/fields.hpp"
#include "core/error.hpp"

namespace servecast::config {

void read(const Document& document, const Visit& body, core::Problems& problems);

template <Described T>
void read(const Document& document, T& value, core::Problems& problems) {
  read(
      document, [&value](Fields& f) { describe(f, value); }, problems);
}

// Throws core::InputError with every problem.
template <Described T>
T read(const Document& document) {
  T value{};
  core::Problems problems;
  read(document, value, problems);
  problems.raise_if_any();
  return value;
}

}  // namespace servecast::config
