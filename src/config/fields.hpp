// The declaration language of every document. A struct is described once, by a free function
//   void describe(config::Fields& f, EngineConfig& c);
// found by argument-dependent lookup, and walkers implement Fields: strict reader, resolved writer, override, schema,
// generated docs. Defaults are the struct's member initialisers. No JSON type appears here.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace servecast::config {

class Fields;

// Legal values of a number. Open ends exclude the bound. NaN and infinities are never legal.
struct Range {
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
  bool min_open = false;
  bool max_open = false;
};
constexpr Range closed(double min, double max) { return {min, max, false, false}; }
constexpr Range above(double min, double max = std::numeric_limits<double>::max()) { return {min, max, true, false}; }

// What is said of one key. required: the reader reports the key's absence.
struct Meta {
  std::string_view key;
  std::string_view help;
  bool required = false;
};

using Visit = std::function<void(Fields&)>;

// Type-erased access to a list member.
struct ListAccess {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
  std::function<void(std::size_t, Fields&)> visit;  // visits element i with the key ""
};

// A value that is either the name of a stored document or that document inline ("model": "llama-3.1-70b" or {...}).
// The reader fills name, or, for an object, the raw JSON text and its pointer; the composition root resolves it.
struct Reference {
  std::string name;
  std::string inline_json;
  std::string place;  // "file:/pointer" of the value, for messages about its content
  bool empty() const { return name.empty() && inline_json.empty(); }
};

// Enumerations list their names in order of value: a constexpr function found by argument-dependent lookup,
//   constexpr std::span<const std::string_view> names_of(Policy);
template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(T v) {
  { names_of(v) } -> std::convertible_to<std::span<const std::string_view>>;
};

template <typename T>
concept Described = requires(Fields& f, T& v) {
  describe(f, v);
};

class Fields {
 public:
  virtual ~Fields() = default;

  virtual void on_bool(const Meta&, bool&) = 0;
  virtual void on_int(const Meta&, std::int64_t&, Range) = 0;
  virtual void on_number(const Meta&, double&, Range) = 0;
  virtual void on_text(const Meta&, std::string&) = 0;
  virtual void on_choice(const Meta&, std::size_t& index, std::span<const std::string_view> names) = 0;
  virtual void on_object(const Meta&, const Visit& body) = 0;
  virtual void on_list(const Meta&, const ListAccess&) = 0;
  virtual void on_reference(const Meta&, Reference&) = 0;
  // An optional member: present says whether it holds a value; the reader answers whether the document gives one
  // (null counts as absent), other walkers whether they want its body visited. The body is visited when true.
  virtual bool on_optional(const Meta&, bool present) = 0;
  // A choice of forms told apart by which key is present, e.g. open arrivals, a trace or a closed loop. Called by
  // describe() after its fields to state that exactly one of these keys (or at most one) must be given.
  virtual void exactly_one_of(std::span<const std::string_view> keys, bool required) = 0;
  // True while reading: cross-field defaults may then be applied by describe(). Rarely needed.
  virtual bool reading() const { return false; }
  // Reports a problem with the object being visited, or with one of its keys (cross-field rules in describe()); key may
  // lead further in ("moe/groups"). The reader drops it where a key of the object could not be read: the rule then
  // judged a default, not the document.
  virtual void problem(std::string_view key, const std::string& message) { (void)key, (void)message; }

  // Sugar: one call per member. Integers of any width, double, bool, string, named enums, described structs,
  // optionals and vectors of those, References.
  template <typename T>
  void field(std::string_view key, T& member, std::string_view help) {
    visit({key, help, false}, member, Range{});
  }
  template <typename T>
  void field(std::string_view key, T& member, Range range, std::string_view help) {
    visit({key, help, false}, member, range);
  }
  template <typename T>
  void required(std::string_view key, T& member, std::string_view help) {
    visit({key, help, true}, member, Range{});
  }
  template <typename T>
  void required(std::string_view key, T& member, Range range, std::string_view help) {
    visit({key, help, true}, member, range);
  }

 private:
  template <typename T>
  void visit(const Meta& meta, T& member, Range range);
  template <typename T>
  void visit(const Meta& meta, std::optional<T>& member, Range range);
  template <typename T>
  void visit(const Meta& meta, std::vector<T>& member, Range range);
};

template <typename T>
void Fields::visit(const Meta& meta, T& member, Range range) {
  if constexpr (std::same_as<T, bool>) {
    on_bool(meta, member);
  } else if constexpr (std::integral<T>) {
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    if (range.min < low) range.min = low;
    if (range.max > high) range.max = high;
    std::int64_t wide = static_cast<std::int64_t>(member);
    on_int(meta, wide, range);
    member = static_cast<T>(wide);
  } else if constexpr (std::same_as<T, double>) {
    on_number(meta, member, range);
  } else if constexpr (std::same_as<T, std::string>) {
    on_text(meta, member);
  } else if constexpr (std::same_as<T, Reference>) {
    on_reference(meta, member);
  } else if constexpr (NamedEnum<T>) {
    auto index = static_cast<std::size_t>(member);
    on_choice(meta, index, names_of(member));
    member = static_cast<T>(index);
  } else {
    static_assert(Described<T>, "give the struct a describe(config::Fields&, T&)");
    on_object(meta, [&member](Fields& inner) { describe(inner, member); });
  }
}

template <typename T>
void Fields::visit(const Meta& meta, std::optional<T>& member, Range range) {
  if (!on_optional(meta, member.has_value())) {
    if (reading()) member.reset();
    return;
  }
  T value = member.value_or(T{});
  visit(meta, value, range);
  if (reading()) member = std::move(value);
}

template <typename T>
void Fields::visit(const Meta& meta, std::vector<T>& member, Range range) {
  on_list(meta, {[&member] { return member.size(); }, [&member](std::size_t n) { member.resize(n); },
                 [&member, range](std::size_t i, Fields& inner) {
                   inner.visit({"", "", false}, member[i], range);
                 }});
}

}  // namespace servecast::config
