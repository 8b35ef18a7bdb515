// The four kinds of error and their treatment: user input is collected in Problems and reported together (exit 2),
// the outside world throws Error (exit 1), expected outcomes are return values, our bugs throw LogicError (exit 70).
// Messages: lower case, no final period; they name the place, the value, the limit and the remedy.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace servecast::core {

// A file, a disk or another part of the outside world failed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An invariant of ours does not hold.
class LogicError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Every problem of the user's input found in one pass, in the order found. place: "file:/json/pointer" or "file:line".
class Problems {
 public:
  void add(std::string place, std::string message);
  template <typename... Args>
  void add(std::string place, fmt::format_string<Args...> format, Args&&... args) {
    add(std::move(place), fmt::format(format, std::forward<Args>(args)...));
  }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }  // each "place: message"
  void raise_if_any() const;                                        // throws InputError

 private:
  std::vector<std::string> lines_;
};

// Carries collected problems to the command line.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<std::string> lines);
  InputError(const std::string& place, const std::string& message);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

[[noreturn]] void broken_invariant(const char* condition, std::string facts);

}  // namespace servecast::core

// On in release builds; use on cheap invariants only.
#define SERVECAST_ENSURE(condition, ...)                                           \
  do {                                                                             \
    if (!(condition)) [[unlikely]]                                                 \
      ::servecast::core::broken_invariant(#condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
