#include "config/parse.hpp"

#include "config/document.hpp"
#include "config/pointer.hpp"
#include "config/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace servecast::config {

namespace {

using nlohmann::json;

constexpr int max_duplicates_listed = 20;

std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view read = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(read.begin(), read.end(), '\n');
  const std::size_t start = read.rfind('\n');
  const std::size_t column = start == std::string_view::npos ? read.size() : read.size() - start - 1;
  return fmt::format("{}:{}", line, std::max<std::size_t>(column, 1));
}

// The library's text without its exception tag and its own line and column.
std::string reason(std::string what, const std::string& last_token) {
  if (const std::size_t tag = what.find("] "); tag != std::string::npos) what.erase(0, tag + 2);
  if (what.starts_with("parse error at")) {
    if (const std::size_t colon = what.find(": "); colon != std::string::npos) what.erase(0, colon + 2);
  }
  const bool not_a_number = !last_token.empty() && (last_token.back() == 'N' || last_token.back() == 'I');
  return printable(what, 240) + (not_a_number ? "; NaN and Infinity are not JSON numbers" : "");
}

// Receives the parser's events and builds the tree, because the library's own builder silently keeps the last of
// duplicate keys and knows no depth limit. Pointers in open_ stay valid: nothing is added to a parent while its child
// is open.
class TreeBuilder : public nlohmann::json_sax<json> {
 public:
  TreeBuilder(std::string_view text, const std::string& source, json& root, core::Problems& problems)
      : text_(text), source_(source), root_(root), problems_(problems) {}

  bool null() override { return put(nullptr) != nullptr; }
  bool boolean(bool v) override { return put(v) != nullptr; }
  bool number_integer(number_integer_t v) override { return put(v) != nullptr; }
  bool number_unsigned(number_unsigned_t v) override { return put(v) != nullptr; }
  bool number_float(number_float_t v, const string_t&) override { return put(v) != nullptr; }
  bool string(string_t& v) override { return put(std::move(v)) != nullptr; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    keys_.back() = name;
    if (!open_.back()->contains(name)) return true;
    problems_.add(source_ + ":" + pointer(), "the key appears twice; keep one");
    return ++duplicates_ < max_duplicates_listed;
  }

  bool parse_error(std::size_t position, const std::string& last_token, const json::exception& e) override {
    problems_.add(source_ + ":" + line_and_column(text_, position), reason(e.what(), last_token));
    return false;
  }

 private:
  json* put(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    json& slot = parent[keys_.back()];
    slot = std::move(value);
    return &slot;
  }

  bool open(json container) {
    if (open_.size() >= Document::max_depth) {
      problems_.add(source_ + ":" + pointer(), "nested deeper than {} levels", Document::max_depth);
      return false;
    }
    json* const place = put(std::move(container));
    open_.push_back(place);
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string pointer() const {
    std::string result;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const bool last = i + 1 == open_.size();
      if (open_[i]->is_object()) {
        result = child(result, keys_[i]);
      } else {
        result = child(result, open_[i]->size() - (last || open_[i]->empty() ? 0 : 1));
      }
    }
    return result;
  }

  std::string_view text_;
  const std::string& source_;
  json& root_;
  core::Problems& problems_;
  std::vector<json*> open_;
  std::vector<std::string> keys_;  // the key being filled in each open object
  int duplicates_ = 0;
};

}  // namespace

bool parse(std::string_view text, const std::string& source, json& root, core::Problems& problems) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    problems.add(source, "the document is empty; expected a JSON object");
    return false;
  }
  if (text.starts_with("version https://git-lfs")) {
    problems.add(source, "this is a Git LFS pointer, not the file; fetch it with git lfs pull");
    return false;
  }
  const std::size_t before = problems.lines().size();
  TreeBuilder builder(text, source, root, problems);
  const bool read = json::sax_parse(text, &builder, json::input_format_t::json, true, true);
  return read && problems.lines().size() == before;
}

}  // namespace servecast::config
