#include "config/json_reader.hpp"

#include "config/closest.hpp"
#include "config/content.hpp"
#include "config/json_text.hpp"
#include "config/number_text.hpp"
#include "config/pointer.hpp"
#include "config/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace servecast::config {

namespace {

using nlohmann::json;

constexpr std::size_t max_unknown_listed = 20;  // of one object

// A value as a message shows it.
std::string shown(const json& value) {
  switch (value.type()) {
    case json::value_t::object: return "an object";
    case json::value_t::array: return "a list";
    case json::value_t::string: return fmt::format("\"{}\"", printable(value.get_ref<const std::string&>()));
    case json::value_t::number_float: return number_text(value.get<double>());
    default: return value.dump();
  }
}

// The integer a value stands for: 3 and 3.0, not 3.5, not beyond 64 bits.
std::optional<std::int64_t> whole(const json& value) {
  if (value.is_number_unsigned()) {
    const auto wide = value.get<std::uint64_t>();
    if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(wide);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const double real = value.get<double>();
  if (real != std::floor(real) || std::abs(real) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

class JsonReader : public Fields {
 public:
  JsonReader(const Document& document, core::Problems& problems, const json& node)
      : document_(document), problems_(problems), node_(node) {}
  // The value of `key`, or its element `index`. Requires: `parent` and `key` outlive it.
  JsonReader(const JsonReader& parent, const json& node, std::string_view key, std::optional<std::size_t> index = {})
      : document_(parent.document_),
        problems_(parent.problems_),
        node_(node),
        parent_(&parent),
        key_(key),
        index_(index) {}

  void on_bool(const Meta& meta, bool& value) override;
  void on_int(const Meta& meta, std::int64_t& value, Range range) override;
  void on_number(const Meta& meta, double& value, Range range) override;
  void on_text(const Meta& meta, std::string& value) override;
  void on_choice(const Meta& meta, std::size_t& index, std::span<const std::string_view> names) override;
  void on_object(const Meta& meta, const Visit& body) override;
  void on_list(const Meta& meta, const ListAccess& list) override;
  void on_reference(const Meta& meta, Reference& reference) override;
  bool on_optional(const Meta& meta, bool present) override;
  void exactly_one_of(std::span<const std::string_view> keys, bool required) override;
  bool reading() const override { return true; }
  void problem(std::string_view key, const std::string& message) override {
    if (!damaged_)
      problems_.add(key.empty() ? place("") : document_.place(fmt::format("{}/{}", pointer(""), key)), message);
  }

  void report_unknown_keys();

 private:
  // The document's value for a field, or null if absent. The empty key is the node itself: an element of a list.
  const json* take(const Meta& meta);
  // Spelt out only when there is something to say: lists are long.
  std::string pointer(std::string_view key) const {
    std::string here = parent_ == nullptr ? "" : parent_->pointer(key_);
    if (index_) here = child(here, *index_);
    return key.empty() ? here : child(here, key);
  }
  std::string place(std::string_view key) const { return document_.place(pointer(key)); }
  // A value that cannot be taken. Its default stands in for it, so what rules between keys would then say is not true.
  template <typename... Args>
  void refuse(const Meta& meta, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add(place(meta.key), fmt::format(format, std::forward<Args>(args)...));
    damaged_ = true;
  }
  void wrong_type(const Meta& meta, std::string_view expected, const json& found);

  const Document& document_;
  core::Problems& problems_;
  const json& node_;
  const JsonReader* parent_ = nullptr;
  std::string_view key_;
  std::optional<std::size_t> index_;
  std::vector<std::string_view> known_;
  bool damaged_ = false;
};

const json* JsonReader::take(const Meta& meta) {
  if (meta.key.empty()) return &node_;
  known_.push_back(meta.key);
  const auto found = node_.find(meta.key);
  if (found != node_.end()) return &*found;
  if (meta.required) refuse(meta, "required key is missing: {}", meta.help);
  return nullptr;
}

void JsonReader::wrong_type(const Meta& meta, std::string_view expected, const json& found) {
  refuse(meta, "expected {}, found {}", expected, shown(found));
}

void JsonReader::on_bool(const Meta& meta, bool& value) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  if (!found->is_boolean()) return wrong_type(meta, "true or false", *found);
  value = found->get<bool>();
}

void JsonReader::on_int(const Meta& meta, std::int64_t& value, Range range) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  if (!found->is_number()) return wrong_type(meta, "a whole number", *found);
  const std::optional<std::int64_t> number = whole(*found);
  const double real = found->get<double>();
  if (!number && real == std::floor(real)) {
    return refuse(meta, "{} does not fit a 64-bit integer", shown(*found));
  }
  if (!number) return wrong_type(meta, "a whole number", *found);
  if (!contains(range, static_cast<double>(*number))) {
    return refuse(meta, "{} is outside {}", *number, range_text(range));
  }
  value = *number;
}

void JsonReader::on_number(const Meta& meta, double& value, Range range) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  if (!found->is_number()) return wrong_type(meta, "a number", *found);
  const double number = found->get<double>();
  if (!contains(range, number)) {
    return refuse(meta, "{} is outside {}", shown(*found), range_text(range));
  }
  value = number;
}

void JsonReader::on_text(const Meta& meta, std::string& value) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  if (!found->is_string()) return wrong_type(meta, "a string", *found);
  value = found->get_ref<const std::string&>();
}

void JsonReader::on_choice(const Meta& meta, std::size_t& index, std::span<const std::string_view> names) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  if (!found->is_string()) return wrong_type(meta, fmt::format("one of {}", fmt::join(names, ", ")), *found);
  const std::string& name = found->get_ref<const std::string&>();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    const std::optional<std::string_view> near = closest(name, names);
    return refuse(meta, "{} is not one of {}{}", shown(*found), fmt::join(names, ", "),
                  near ? fmt::format("; did you mean \"{}\"?", *near) : "");
  }
  index = static_cast<std::size_t>(at - names.begin());
}

void JsonReader::on_object(const Meta& meta, const Visit& body) {
  const json* const found = take(meta);
  if (found == nullptr && meta.required) return;
  if (found != nullptr && !found->is_object()) return wrong_type(meta, "an object", *found);
  // An absent object is an empty one: what it requires is missing, and rules between its keys hold for the defaults.
  const json empty = json::object();
  JsonReader inner(*this, found == nullptr ? empty : *found, meta.key);
  body(inner);
  inner.report_unknown_keys();
  if (meta.key.empty() && inner.damaged_) damaged_ = true;
}

void JsonReader::on_list(const Meta& meta, const ListAccess& list) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  if (!found->is_array()) return wrong_type(meta, "a list", *found);
  list.resize(0);  // elements start from their defaults, not from a default list's values
  list.resize(found->size());
  for (std::size_t i = 0; i < found->size(); ++i) {
    JsonReader element(*this, (*found)[i], meta.key, i);
    list.visit(i, element);
    if (element.damaged_) damaged_ = true;
  }
}

void JsonReader::on_reference(const Meta& meta, Reference& reference) {
  const json* const found = take(meta);
  if (found == nullptr) return;
  reference = {};
  reference.place = place(meta.key);
  if (found->is_object()) {
    reference.inline_json = found->dump();
  } else if (!found->is_string()) {
    wrong_type(meta, "a name or an object", *found);
  } else if (found->get_ref<const std::string&>().empty()) {
    refuse(meta, "the name is empty");
  } else {
    reference.name = found->get<std::string>();
  }
}

bool JsonReader::on_optional(const Meta& meta, bool) {
  if (meta.key.empty()) return !node_.is_null();
  const auto found = node_.find(meta.key);
  const bool given = found != node_.end() && !found->is_null();
  if (given) return true;
  const json* const null = take(meta);
  if (null != nullptr && meta.required) refuse(meta, "required key is null: {}", meta.help);
  return false;
}

void JsonReader::exactly_one_of(std::span<const std::string_view> keys, bool required) {
  std::vector<std::string_view> given;
  for (const std::string_view key : keys) {
    const auto found = node_.find(key);
    if (found != node_.end() && !found->is_null()) given.push_back(key);
  }
  if (given.size() > 1) {
    problems_.add(place(""), "{} exclude each other; keep one", fmt::join(given, " and "));
  } else if (given.empty() && required) {
    problems_.add(place(""), "one of {} is needed", fmt::join(keys, ", "));
  }
}

void JsonReader::report_unknown_keys() {
  std::size_t unknown = 0;
  for (const auto& [key, value] : node_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    if (++unknown <= max_unknown_listed) problems_.add(place(key), "unknown key{}", hint(key, known_));
  }
  if (unknown > max_unknown_listed) {
    problems_.add(place(""), "{} more unknown keys", unknown - max_unknown_listed);
  }
}

}  // namespace

void read(const Document& document, const Visit& body, core::Problems& problems) {
  JsonReader reader(document, problems, *document.content().root);
  body(reader);
  reader.report_unknown_keys();
}

}  // namespace servecast::config
