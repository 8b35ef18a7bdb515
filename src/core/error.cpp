#include "core/error.hpp"

#include <fmt/format.h>

namespace servecast::core {

namespace {

std::string joined(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

}  // namespace

void Problems::add(std::string place, std::string message) {
  lines_.push_back(place.empty() ? std::move(message) : std::move(place) + ": " + message);
}

void Problems::raise_if_any() const {
  if (!lines_.empty()) throw InputError(lines_);
}

InputError::InputError(std::vector<std::string> lines) : std::runtime_error(joined(lines)), lines_(std::move(lines)) {}

InputError::InputError(const std::string& place, const std::string& message)
    : InputError(std::vector<std::string>{place.empty() ? message : place + ": " + message}) {}

void broken_invariant(const char* condition, std::string facts) {
  throw LogicError(fmt::format("{} ({})", facts, condition));
}

}  // namespace servecast::core
