// A JSON document as the user means it: its file merged over the files it extends (RFC 7386), with --set overrides
// applied, and for every value the place it came from. Comments are allowed; a root key "$schema" is for editors and
// ignored. Refuses duplicate keys, bad UTF-8, nesting beyond 64 and more than 64 MiB. Knows no schema: see json_reader.
#pragma once

#include "config/fields.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {

class Document {
 public:
  static constexpr std::size_t max_depth = 64;
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;
  static constexpr int max_extends = 16;

  // The stored document that a name in "extends" means, or nothing for a path. place: of that "extends".
  using NamedBase = std::function<std::optional<std::string_view>(const std::string& name, const std::string& place)>;

  // Throws core::Error if a file cannot be read, core::InputError with every problem if it is malformed.
  static Document load(const std::filesystem::path& path, const NamedBase& named = {});
  // A stored document by name, merged over the stored ones it extends. Requires: named knows it.
  static Document stored(const std::string& name, const NamedBase& named);
  // place names the text in messages, as a file name would. Such a document cannot extend another.
  static Document from_text(std::string_view text, std::string place);
  // The object of a Reference given inline; its problems are placed inside the referring document.
  static Document from_inline(const Reference& reference);

  Document(const Document& other);
  Document(Document&& other) noexcept;
  Document& operator=(Document other) noexcept;
  ~Document();

  // assignment: "/json/pointer=value", value JSON or a bare string. Later assignments win. Objects on the way are
  // created, list elements must exist; whether a key is known and null allowed is for the reader to say.
  void set(std::string_view assignment, core::Problems& problems);

  bool contains(std::string_view pointer) const;
  bool is_null(std::string_view pointer) const;
  // The number at pointer; none if there is none or something else.
  std::optional<double> number(std::string_view pointer) const;
  // Where a value (or an absent key) belongs, for messages: "file:/pointer" or "--set /pointer".
  std::string place(std::string_view pointer) const;
  // Pointers of all numbers and of nulls, which stand for unknown ones, ascending by key.
  std::vector<std::string> number_pointers() const;
  // SHA-256 of the files it was read from: its own, then those it extends.
  const std::vector<std::string>& digests() const;
  // The merged document as compact JSON with sorted keys: equal documents give equal text.
  std::string text() const;

  struct Content;  // for the .cpp files of this layer, see content.hpp
  const Content& content() const { return *content_; }

 private:
  explicit Document(std::unique_ptr<Content> content);

  std::unique_ptr<Content> content_;
};

}  // namespace servecast::config
