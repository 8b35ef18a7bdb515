// Writes JSON in the order of the calls: two-space indent, shortest exact numbers, escaped UTF-8 (malformed bytes
// become U+FFFD). Invariants: what comes out is well-formed; NaN and infinities are refused as bugs of the caller. The
// same calls give the same bytes on every machine.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {

class JsonWriter {
 public:
  enum class Layout { Indented, Compact };
  explicit JsonWriter(Layout layout = Layout::Indented) : layout_(layout) {}

  // Without a key: the root, or an element of a list. With a key: a member of an object.
  void begin_object() { open('{'); }
  void begin_object(std::string_view key) { name(key), open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void begin_array(std::string_view key) { name(key), open('['); }
  void end_array() { close(']'); }

  template <typename T>
  void value(std::string_view key, const T& v) {
    name(key), put(v);
  }
  void null(std::string_view key) { name(key), scalar("null"); }
  void raw(std::string_view key, std::string_view json) { name(key), scalar(json); }  // Requires: one JSON value

  template <typename T>
  void element(const T& v) {
    put(v);
  }
  void null_element() { scalar("null"); }
  void raw_element(std::string_view json) { scalar(json); }

  // Ends with a newline when indented. Requires: everything that was begun has ended.
  std::string text() const;

 private:
  template <typename T>
  void put(const T& v) {
    if constexpr (std::same_as<T, bool>) {
      scalar(v ? "true" : "false");
    } else if constexpr (std::integral<T>) {
      scalar(std::to_string(v));
    } else if constexpr (std::floating_point<T>) {
      number(static_cast<double>(v));
    } else {
      static_assert(std::convertible_to<const T&, std::string_view>, "JSON values are numbers, booleans and text");
      quoted(v);
    }
  }
  void name(std::string_view key);
  void separate();
  void open(char bracket);
  void close(char bracket);
  void scalar(std::string_view text);
  void number(double v);
  void quoted(std::string_view v);
  void line();

  Layout layout_;
  std::string out_;
  std::vector<char> open_;  // closing brackets due, innermost last
  bool empty_ = true;       // nothing yet inside the innermost bracket
  bool named_ = false;      // a key awaits its value
};

// A JSON string literal with its quotes.
std::string json_quoted(std::string_view text);

}  // namespace servecast::config
