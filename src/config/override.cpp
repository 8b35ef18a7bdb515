// --set assignments onto a document: Document::set.
#include "config/content.hpp"
#include "config/document.hpp"
#include "config/parse.hpp"
#include "config/pointer.hpp"
#include "config/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace servecast::config {

namespace {

using nlohmann::json;

std::string_view kind_of(const json& value) {
  if (value.is_string()) return "a string";
  if (value.is_number()) return "a number";
  return "a boolean";
}

// A JSON value if it reads as one, else the text itself. False, with problems, for broken objects, lists and strings.
bool parse_value(std::string_view text, const std::string& place, json& value, core::Problems& problems) {
  core::Problems syntax;
  if (parse(text, place, value, syntax)) return true;
  const bool looks_like_json = !text.empty() && (text[0] == '{' || text[0] == '[' || text[0] == '"');
  if (looks_like_json) {
    for (const std::string& line : syntax.lines()) problems.add("", line);
    return false;
  }
  if (!is_utf8(text)) {
    problems.add(place, "the value is not UTF-8 text");
    return false;
  }
  value = text;
  return true;
}

// The element or member that key names in node; created in objects. Null with a problem where there can be none.
json* step_into(json& node, const std::string& key, const std::string& place, core::Problems& problems) {
  if (node.is_null()) node = json::object();
  if (node.is_object()) return &node[key];
  if (!node.is_array()) {
    problems.add(place, "the value above \"{}\" is {}; only objects and lists have parts", printable(key),
                 kind_of(node));
    return nullptr;
  }
  const std::optional<std::size_t> index = index_of(key);
  if (index && *index < node.size()) return &node[*index];
  problems.add(place, "the list has {} element{}, so \"{}\" names none; elements count from 0", node.size(),
               node.size() == 1 ? "" : "s", printable(key));
  return nullptr;
}

struct Slot {
  json* value = nullptr;  // null: there can be no such value, and a problem was reported
  std::string brought;    // pointer of the outermost part that did not exist before, or of the value itself
};

Slot slot_of(json& root, const std::vector<std::string>& keys, const std::string& place, core::Problems& problems) {
  Slot slot{&root, ""};
  std::string at;
  for (const std::string& key : keys) {
    const bool absent = slot.value->is_null() || (slot.value->is_object() && !slot.value->contains(key));
    at = child(at, key);
    if (absent && slot.brought.empty()) slot.brought = at;
    slot.value = step_into(*slot.value, key, place, problems);
    if (slot.value == nullptr) return slot;
  }
  if (slot.brought.empty()) slot.brought = at;
  return slot;
}

}  // namespace

void Document::set(std::string_view assignment, core::Problems& problems) {
  const std::size_t equals = assignment.find('=');
  const std::string pointer(assignment.substr(0, equals));
  const std::optional<std::vector<std::string>> keys = keys_of(pointer);
  if (equals == std::string_view::npos || !keys || keys->empty() || !is_utf8(pointer)) {
    return problems.add(fmt::format("--set {}", printable(assignment, assignment.size())),
                        "expected /json/pointer=value");
  }
  const std::string place = fmt::format("--set {}", printable(pointer, pointer.size()));
  if (keys->size() > max_depth) return problems.add(place, "nested deeper than {} levels", max_depth);
  json value;
  if (!parse_value(assignment.substr(equals + 1), place, value, problems)) return;

  // On a copy, so that a refused assignment leaves nothing behind.
  auto changed = std::make_unique<Content>(*content_);
  const Slot slot = slot_of(*changed->root, *keys, place, problems);
  if (slot.value == nullptr) return;
  *slot.value = std::move(value);
  changed->claim(slot.brought, "--set ");
  content_ = std::move(changed);
}

}  // namespace servecast::config
