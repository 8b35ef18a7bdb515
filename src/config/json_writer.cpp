#include "config/json_writer.hpp"

#include "config/value_writer.hpp"
#include "core/error.hpp"

namespace servecast::config {

void ValueWriter::on_choice(const Meta& meta, std::size_t& index, std::span<const std::string_view> names) {
  SERVECAST_ENSURE(index < names.size(), "{} has the value {} but only {} names", meta.key, index, names.size());
  put(meta, names[index]);
}

void ValueWriter::on_object(const Meta& meta, const Visit& body) {
  if (meta.key.empty()) {
    out_.begin_object();
  } else {
    out_.begin_object(meta.key);
  }
  body(*this);
  out_.end_object();
}

void ValueWriter::on_list(const Meta& meta, const ListAccess& list) {
  if (meta.key.empty()) {
    out_.begin_array();
  } else {
    out_.begin_array(meta.key);
  }
  for (std::size_t i = 0; i < list.size(); ++i) list.visit(i, *this);
  out_.end_array();
}

void ValueWriter::on_reference(const Meta& meta, Reference& reference) {
  if (reference.inline_json.empty()) {
    if (!reference.name.empty() || meta.key.empty()) put(meta, reference.name);
  } else if (meta.key.empty()) {
    out_.raw_element(reference.inline_json);
  } else {
    out_.raw(meta.key, reference.inline_json);
  }
}

// Inside a list an absent element still holds its place.
bool ValueWriter::on_optional(const Meta& meta, bool present) {
  if (!present && meta.key.empty()) out_.null_element();
  return present;
}

void write(JsonWriter& out, const Visit& body) {
  ValueWriter writer(out);
  body(writer);
}

std::string write(const Visit& body) {
  JsonWriter out;
  out.begin_object();
  write(out, body);
  out.end_object();
  return out.text();
}

}  // namespace servecast::config
