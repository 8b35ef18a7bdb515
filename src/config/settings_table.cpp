#include "config/settings_table.hpp"

#include "config/number_text.hpp"
#include "config/pointer.hpp"

#include <fmt/format.h>

namespace servecast::config {

namespace {

// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

class TableWriter : public Fields {
 public:
  void on_bool(const Meta& meta, bool& value) override { row(meta, value ? "true" : "false", "true / false"); }
  void on_int(const Meta& meta, std::int64_t& value, Range range) override {
    row(meta, fmt::format("{}", value), legal(range, "whole number"));
  }
  void on_number(const Meta& meta, double& value, Range range) override {
    row(meta, number_text(value), legal(range, "number"));
  }
  void on_text(const Meta& meta, std::string& value) override { row(meta, value, "text"); }
  void on_choice(const Meta& meta, std::size_t& index, std::span<const std::string_view> names) override {
    row(meta, std::string(names[index]), fmt::format("{}", fmt::join(names, " / ")));
  }
  void on_object(const Meta& meta, const Visit& body) override { inside(meta, "object", body); }
  void on_list(const Meta& meta, const ListAccess& list) override;
  void on_reference(const Meta& meta, Reference& reference) override {
    row(meta, reference.name, "name or inline object");
  }
  bool on_optional(const Meta&, bool present) override {
    absent_ = !present;
    return true;
  }
  void exactly_one_of(std::span<const std::string_view> keys, bool required) override {
    rows_ += fmt::format("| `{}` |  | {} of {} | |\n", pointer_.empty() ? "/" : pointer_,
                         required ? "exactly one" : "at most one", fmt::join(keys, ", "));
  }

  const std::string& rows() const { return rows_; }

 private:
  static std::string legal(const Range& range, std::string_view kind) {
    if (!has_min(range) && !has_max(range)) return std::string(kind);
    return fmt::format("{} in {}", kind, range_text(range));
  }

  void row(const Meta& meta, const std::string& standard, std::string_view legal_values);
  void inside(const Meta& meta, std::string_view kind, const Visit& body);

  std::string rows_;
  std::string pointer_;
  bool absent_ = false;      // the field that comes next is an optional without a default
  bool in_element_ = false;  // values of a sample element are not defaults
};

void TableWriter::row(const Meta& meta, const std::string& standard, std::string_view legal_values) {
  const bool hidden = absent_ || standard.empty() || in_element_;
  const std::string shown = meta.required ? "required" : hidden ? "" : fmt::format("`{}`", cell(standard));
  const std::string at = meta.key.empty() ? pointer_ : child(pointer_, meta.key);
  rows_ += fmt::format("| `{}` | {} | {} | {} |\n", at, shown, cell(legal_values), cell(meta.help));
  absent_ = false;
}

void TableWriter::inside(const Meta& meta, std::string_view kind, const Visit& body) {
  if (!meta.key.empty()) row(meta, "", kind);
  absent_ = false;
  const std::string around = pointer_;
  if (!meta.key.empty()) pointer_ = child(pointer_, meta.key);
  body(*this);
  pointer_ = around;
}

void TableWriter::on_list(const Meta& meta, const ListAccess& list) {
  inside(meta, "list", [&list, this](Fields& fields) {
    const bool around = in_element_;
    const std::size_t size = list.size();
    if (size == 0) list.resize(1);
    in_element_ = true;
    pointer_ = child(pointer_, "*");
    list.visit(0, fields);
    in_element_ = around;
    list.resize(size);
  });
}

}  // namespace

std::string settings_table(const Visit& body) {
  TableWriter writer;
  body(writer);
  return "| key | default | legal values | meaning |\n|---|---|---|---|\n" + writer.rows();
}

}  // namespace servecast::config
