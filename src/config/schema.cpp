#include "config/schema.hpp"

#include "config/json_text.hpp"
#include "config/number_text.hpp"
#include "config/value_writer.hpp"

#include <algorithm>
#include <vector>

namespace servecast::config {

namespace {

class SchemaWriter : public Fields {
 public:
  SchemaWriter(JsonWriter& out, bool show_defaults) : out_(out), show_defaults_(show_defaults) {}

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

  void write_body(const Visit& body);
  void write_rules();
  bool needs_keys() const;  // an empty object would not do

 private:
  struct OneOf {
    std::vector<std::string> keys;
    bool required;
  };

  bool begin(const Meta& meta, std::string_view type);  // true if a default is to be shown
  void write_range(const Range& range);
  void write_one_of(const OneOf& group);

  JsonWriter& out_;
  bool show_defaults_;
  bool nullable_ = false;  // the field that comes next may be null
  bool absent_ = false;    // and has no default
  std::vector<std::string> required_;
  std::vector<OneOf> one_of_;
};

bool SchemaWriter::begin(const Meta& meta, std::string_view type) {
  if (meta.key.empty()) {
    out_.begin_object();
  } else {
    out_.begin_object(meta.key);
  }
  if (!meta.help.empty()) out_.value("description", meta.help);
  if (meta.required) required_.emplace_back(meta.key);
  if (nullable_ || type == "reference") {
    out_.begin_array("type");
    out_.element(type == "reference" ? std::string_view("string") : type);
    if (type == "reference") out_.element("object");
    if (nullable_) out_.element("null");
    out_.end_array();
  } else {
    out_.value("type", type);
  }
  const bool show = show_defaults_ && !absent_ && !meta.required && !meta.key.empty();
  nullable_ = false;
  absent_ = false;
  return show;
}

void SchemaWriter::write_range(const Range& range) {
  if (has_min(range)) out_.value(range.min_open ? "exclusiveMinimum" : "minimum", range.min);
  if (has_max(range)) out_.value(range.max_open ? "exclusiveMaximum" : "maximum", range.max);
}

void SchemaWriter::on_bool(const Meta& meta, bool& value) {
  if (begin(meta, "boolean")) out_.value("default", value);
  out_.end_object();
}

void SchemaWriter::on_int(const Meta& meta, std::int64_t& value, Range range) {
  if (begin(meta, "integer")) out_.value("default", value);
  write_range(range);
  out_.end_object();
}

void SchemaWriter::on_number(const Meta& meta, double& value, Range range) {
  if (begin(meta, "number")) out_.value("default", value);
  write_range(range);
  out_.end_object();
}

void SchemaWriter::on_text(const Meta& meta, std::string& value) {
  if (begin(meta, "string") && !value.empty()) out_.value("default", value);
  out_.end_object();
}

void SchemaWriter::on_choice(const Meta& meta, std::size_t& index, std::span<const std::string_view> names) {
  const bool nullable = nullable_;
  if (begin(meta, "string")) out_.value("default", names[index]);
  out_.begin_array("enum");
  for (const std::string_view name : names) out_.element(name);
  if (nullable) out_.null_element();
  out_.end_array();
  out_.end_object();
}

void SchemaWriter::on_object(const Meta& meta, const Visit& body) {
  const bool optional = nullable_;
  begin(meta, "object");
  // Rules and required keys of this object must not mix with those of the one around it.
  SchemaWriter inner(out_, show_defaults_);
  out_.begin_object("properties");
  inner.write_body(body);
  out_.end_object();
  inner.write_rules();
  out_.end_object();
  // The reader takes an absent object for an empty one, which an object with needs of its own does not allow.
  if (!meta.required && !optional && !meta.key.empty() && inner.needs_keys()) required_.emplace_back(meta.key);
}

bool SchemaWriter::needs_keys() const {
  return !required_.empty() || std::any_of(one_of_.begin(), one_of_.end(), [](const OneOf& g) { return g.required; });
}

void SchemaWriter::on_list(const Meta& meta, const ListAccess& list) {
  if (begin(meta, "array") && list.size() > 0) {
    out_.begin_array("default");
    ValueWriter values(out_);
    for (std::size_t i = 0; i < list.size(); ++i) list.visit(i, values);
    out_.end_array();
  }
  // An element is needed to learn what elements look like; its values are not defaults of anything.
  const std::size_t size = list.size();
  if (size == 0) list.resize(1);
  JsonWriter items(JsonWriter::Layout::Compact);
  SchemaWriter element(items, false);
  list.visit(0, element);
  out_.raw("items", items.text());
  list.resize(size);
  out_.end_object();
}

void SchemaWriter::on_reference(const Meta& meta, Reference& reference) {
  if (begin(meta, "reference") && !reference.name.empty()) out_.value("default", reference.name);
  out_.end_object();
}

bool SchemaWriter::on_optional(const Meta&, bool present) {
  nullable_ = true;
  absent_ = !present;
  return true;
}

void SchemaWriter::exactly_one_of(std::span<const std::string_view> keys, bool required) {
  one_of_.push_back({std::vector<std::string>(keys.begin(), keys.end()), required});
}

void SchemaWriter::write_body(const Visit& body) { body(*this); }

// Exactly one: "oneOf" over the keys. At most one: the same with the case that none is there.
void SchemaWriter::write_one_of(const OneOf& group) {
  const auto requires_key = [this](const std::string& key) {
    out_.begin_object();
    out_.begin_array("required");
    out_.element(key);
    out_.end_array();
    out_.end_object();
  };
  out_.begin_object();
  out_.begin_array("oneOf");
  for (const std::string& key : group.keys) requires_key(key);
  if (!group.required) {
    out_.begin_object();
    out_.begin_object("not");
    out_.begin_array("anyOf");
    for (const std::string& key : group.keys) requires_key(key);
    out_.end_array();
    out_.end_object();
    out_.end_object();
  }
  out_.end_array();
  out_.end_object();
}

void SchemaWriter::write_rules() {
  if (!required_.empty()) {
    out_.begin_array("required");
    for (const std::string& key : required_) out_.element(key);
    out_.end_array();
  }
  if (!one_of_.empty()) {
    out_.begin_array("allOf");
    for (const OneOf& group : one_of_) write_one_of(group);
    out_.end_array();
  }
  out_.value("additionalProperties", false);
}

}  // namespace

std::string json_schema(std::string_view title, const Visit& body) {
  JsonWriter out;
  out.begin_object();
  out.value("$schema", "http://json-schema.org/draft-07/schema#");
  out.value("title", title);
  out.value("type", "object");
  SchemaWriter writer(out, true);
  out.begin_object("properties");
  writer.write_body(body);
  out.begin_object("$schema");
  out.value("description", "for editors; ignored");
  out.value("type", "string");
  out.end_object();
  out.begin_object("extends");
  out.value("description", "the document that this one changes (RFC 7386): a relative path, or a stored one's name");
  out.value("type", "string");
  out.end_object();
  out.end_object();
  writer.write_rules();
  out.end_object();
  return out.text();
}

}  // namespace servecast::config
