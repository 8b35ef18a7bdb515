#include "workload/json_rows.hpp"

#include "config/closest.hpp"
#include "core/error.hpp"
#include "workload/trace_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace servecast::workload {

namespace {

using Json = nlohmann::json;

// A run of parse events of one line. Whole numbers are taken as text, so that every value is read by the same code.
class RowEvents {
 public:
  RowEvents(const JsonSchema& schema, const std::string& place, TraceRecord& record)
      : schema_(schema), place_(place), record_(record) {
    record_.prefix.clear();
    record_.session = no_session;
  }

  bool null() { return other("null"); }
  bool boolean(bool value) { return other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return number(std::to_string(value), static_cast<std::uint64_t>(value)); }
  bool number_unsigned(std::uint64_t value) { return number(std::to_string(value), value); }
  bool number_float(double, const std::string& text) { return number(text, std::nullopt); }
  bool string(std::string& value) { return other("\"" + value + "\""); }
  bool binary(Json::binary_t&) { return other("binary"); }
  bool start_object(std::size_t) { return open("an object"); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) {
    if (depth_ == 0) refuse_form("an array");
    if (depth_ == 1 && key_ == schema_.prefix_key) in_prefix_ = true;
    if (depth_ == 1 && wanted() && !in_prefix_) refuse_kind("an array");
    ++depth_;
    return true;
  }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    if (depth_ != 1) return true;
    key_ = value;
    const int index = wanted_index();
    if (index < 0 && schema_.strict) refuse_key();
    if (index < 0) return true;
    if (seen_[static_cast<std::size_t>(index)]) throw core::InputError(place_, fmt::format("{} is given twice", key_));
    seen_[static_cast<std::size_t>(index)] = true;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception&) {
    throw core::InputError(place_,
                           fmt::format("not valid JSON at byte {} near {}; expected one object a line, perhaps the "
                                       "line is truncated",
                                       position, excerpt(token)));
  }

  void finish() const {
    const std::array<std::string_view, 3> required = {schema_.time_key, schema_.input_key, schema_.output_key};
    for (std::size_t i = 0; i < required.size(); ++i) {
      if (!seen_[i]) {
        throw core::InputError(place_,
                               fmt::format("{} is missing, which format {} needs", required[i], schema_.format));
      }
    }
  }

 private:
  int wanted_index() const {
    if (key_ == schema_.time_key) return 0;
    if (key_ == schema_.input_key) return 1;
    if (key_ == schema_.output_key) return 2;
    if (key_ == schema_.prefix_key) return 3;
    return !schema_.session_key.empty() && key_ == schema_.session_key ? 4 : -1;
  }
  bool wanted() const { return wanted_index() >= 0; }

  [[noreturn]] void refuse_form(std::string_view what) const {
    throw core::InputError(place_, fmt::format("the line holds {}; expected one JSON object", what));
  }
  [[noreturn]] void refuse_key() const {
    const std::array<std::string_view, 5> known = {schema_.time_key, schema_.input_key, schema_.output_key,
                                                   schema_.prefix_key, schema_.session_key};
    throw core::InputError(place_, fmt::format("unknown key {}{}", excerpt(key_), config::hint(key_, known)));
  }
  [[noreturn]] void refuse_kind(std::string_view what) const {
    throw core::InputError(place_, fmt::format("{} is {}; expected {}", key_, what,
                                               key_ == schema_.prefix_key ? "an array of whole numbers" : "a number"));
  }

  bool open(std::string_view what) {
    if (in_prefix_ || (depth_ == 1 && wanted())) refuse_kind(what);
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    if (depth_ == 1) in_prefix_ = false;
    return true;
  }
  bool other(const std::string& text) {
    if (depth_ == 0) refuse_form(excerpt(text));
    if (in_prefix_ || (depth_ == 1 && wanted())) refuse_kind(excerpt(text));
    return true;
  }

  bool number(const std::string& text, std::optional<std::uint64_t> whole) {
    if (depth_ == 0) refuse_form(text);
    if (in_prefix_) {
      if (depth_ != 2 || !whole) refuse_kind("an array that holds " + text);
      record_.prefix.push_back(*whole);
      return true;
    }
    if (depth_ != 1) return true;
    const FieldPlace at{place_, key_};
    switch (wanted_index()) {
      case 0: record_.arrival_ns = decimal_ns(text, schema_.time_unit_ns, at); break;
      case 1: record_.input_tokens = token_count(text, at); break;
      case 2: record_.output_tokens = token_count(text, at); break;
      case 3: refuse_kind(text);
      case 4: record_.session = static_cast<std::uint32_t>(token_count(text, at)); break;
      default: break;
    }
    return true;
  }

  const JsonSchema& schema_;
  const std::string& place_;
  TraceRecord& record_;
  std::string key_;
  std::array<bool, 5> seen_{};
  int depth_ = 0;
  bool in_prefix_ = false;
};

constexpr std::array<std::string_view, 2> header_keys = {"servecast_trace", "block_tokens"};

// The two keys of the header, and the first other one.
struct HeaderEvents {
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t value) {
    if (depth == 1 && name == "servecast_trace") version = value;
    if (depth == 1 && name == "block_tokens") block = value;
    return true;
  }
  bool number_float(double, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(Json::binary_t&) { return true; }
  bool start_object(std::size_t) { return ++depth, true; }
  bool end_object() { return --depth, true; }
  bool start_array(std::size_t) { return ++depth, true; }
  bool end_array() { return --depth, true; }
  bool key(std::string& value) {
    if (depth != 1) return true;
    name = value;
    const bool known = std::find(header_keys.begin(), header_keys.end(), value) != header_keys.end();
    if (!known && !unknown) unknown = value;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }

  int depth = 0;
  std::string name;
  std::optional<std::uint64_t> version;
  std::optional<std::uint64_t> block;
  std::optional<std::string> unknown;
};

}  // namespace

void parse_json_row(std::string_view line, const JsonSchema& schema, const TraceLines& lines, TraceRecord& record) {
  const std::string place = lines.place();
  RowEvents events(schema, place, record);
  record.line = lines.number();
  Json::sax_parse(line.data(), line.data() + line.size(), &events);
  events.finish();
}

std::int32_t parse_servecast_header(std::string_view line, const TraceLines& lines) {
  HeaderEvents events;
  if (!Json::sax_parse(line.data(), line.data() + line.size(), &events) || !events.version) return 0;
  if (*events.version != 1) {
    throw core::InputError(lines.place(), fmt::format("servecast_trace is {}; this version reads 1", *events.version));
  }
  if (events.unknown) {
    throw core::InputError(lines.place(), fmt::format("unknown key {}{}", excerpt(*events.unknown),
                                                      config::hint(*events.unknown, header_keys)));
  }
  if (!events.block || *events.block < 1 || *events.block > 1048576) {
    throw core::InputError(lines.place(), "block_tokens is missing or outside [1, 1048576]");
  }
  return static_cast<std::int32_t>(*events.block);
}

}  // namespace servecast::workload
