// The walker that writes values as JSON; shared by the document writer and by the schema, which shows defaults.
// Internal to config.
#pragma once

#include "config/fields.hpp"
#include "config/json_text.hpp"

namespace servecast::config {

class ValueWriter : public Fields {
 public:
  explicit ValueWriter(JsonWriter& out) : out_(out) {}

  void on_bool(const Meta& meta, bool& value) override { put(meta, value); }
  void on_int(const Meta& meta, std::int64_t& value, Range) override { put(meta, value); }
  void on_number(const Meta& meta, double& value, Range) override { put(meta, value); }
  void on_text(const Meta& meta, std::string& value) override { put(meta, value); }
  void on_choice(const Meta& meta, std::size_t& index, std::span<const std::string_view> names) override;
  void on_object(const Meta& meta, const Visit& body) override;
  void on_list(const Meta& meta, const ListAccess& list) override;
  void on_reference(const Meta& meta, Reference& reference) override;
  bool on_optional(const Meta& meta, bool present) override;
  void exactly_one_of(std::span<const std::string_view>, bool) override {}

 private:
  // An empty key is an element of a list.
  template <typename T>
  void put(const Meta& meta, const T& value) {
    if (meta.key.empty()) {
      out_.element(value);
    } else {
      out_.value(meta.key, value);
    }
  }

  JsonWriter& out_;
};

}  // namespace servecast::config
