// The dictionary in the header of a .npy file: a Python literal with three keys.
#include "core/error.hpp"
#include "precision/tensor_file.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>

namespace servecast::precision {
namespace {

class Header {
 public:
  Header(std::string_view text, const std::string& place) : left_(text), place_(place) {}

  RawLayout parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      entry(key);
      if (accept('}')) break;
      expect(',');
    }
    skip();
    if (!left_.empty()) fail(fmt::format("characters after the header's dictionary: \"{}\"", left_.substr(0, 20)));
    if (!type_ || !order_ || !shape_) fail("the header lacks descr, fortran_order or shape");
    return {*type_, *shape_};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw core::InputError(place_, message); }

  void skip() {
    while (!left_.empty() && (left_.front() == ' ' || left_.front() == '\n')) left_.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool accept(std::string_view word) {
    skip();
    if (left_.substr(0, word.size()) != word) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(fmt::format("the header is no dictionary of NumPy: '{}' expected at \"{}\"", c, left_.substr(0, 20)));
  }
  std::string_view quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect(quote);
    const std::size_t end = left_.find(quote);
    if (end == std::string_view::npos) fail("the header ends inside a string");
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return text;
  }

  void entry(std::string_view key) {
    if (key == "descr" && !type_) {
      descr();
    } else if (key == "fortran_order" && !order_) {
      order_ = accept("True");
      if (!*order_ && !accept("False")) fail("fortran_order is neither True nor False");
      if (*order_) fail("the array is in Fortran order, which is not read; save numpy.ascontiguousarray(x)");
    } else if (key == "shape" && !shape_) {
      shape_ = dimensions();
    } else {
      fail(fmt::format("the header's key \"{}\" is unknown or given twice", key));
    }
  }

  void descr() {
    skip();
    if (!left_.empty() && left_.front() == '[') fail("structured arrays are not read; save one field of it");
    const std::string_view descr = quoted();
    if (descr == "<f4") type_ = FileType::Float32;
    if (descr == "<f8") type_ = FileType::Float64;
    if (descr == "<f2") type_ = FileType::Float16;
    if (type_) return;
    if (descr == "<V2" || descr == "|V2")
      fail(
          fmt::format("element type \"{}\" is not read; for bfloat16 write the raw bytes and give --dtype bfloat16 "
                      "and --shape",
                      descr));
    fail(fmt::format("element type \"{}\" is not read; use <f4, <f8 or <f2, e.g. x.astype('<f4')", descr));
  }

  std::vector<std::int64_t> dimensions() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skip();
      std::int64_t n = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), n);
      if (error != std::errc{} || n < 0) fail("the header's shape is no tuple of whole numbers");
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      shape.push_back(n);
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  std::string_view left_;
  const std::string& place_;
  std::optional<FileType> type_;
  std::optional<bool> order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

}  // namespace

RawLayout parse_npy_header(std::string_view text, const std::string& place) { return Header(text, place).parse(); }

std::int64_t elements_of(std::span<const std::int64_t> shape, const std::string& place) {
  std::int64_t elements = 1;
  for (const std::int64_t n : shape) {
    if (n <= 0) throw core::InputError(place, fmt::format("shape ({}) has no element", fmt::join(shape, ", ")));
    if (n > most_tensor_elements / elements)
      throw core::InputError(place, fmt::format("shape ({}) has more than {} elements; give a part of the tensor",
                                                fmt::join(shape, ", "), most_tensor_elements));
    elements *= n;
  }
  return elements;
}

}  // namespace servecast::precision
