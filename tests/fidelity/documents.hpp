// Reads documents built into the binary.
#pragma once

#include "config/json_reader.hpp"
#include "scenario/library.hpp"

#include <string>

namespace servecast::fidelity {

// False when no such document exists; throws core::InputError when it is malformed.
template <typename T>
bool read_built_in(scenario::Kind kind, const std::string& name, T& value) {
  const auto text = scenario::find(kind, name);
  if (!text) return false;
  value = config::read<T>(config::Document::from_text(*text, name));
  return true;
}

}  // namespace servecast::fidelity
