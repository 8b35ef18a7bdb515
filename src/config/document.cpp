#include "config/document.hpp"

#include "config/content.hpp"
#include "config/parse.hpp"
#include "config/pointer.hpp"
#include "config/utf8.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <vector>

namespace servecast::config {

namespace {

using nlohmann::json;
using Content = Document::Content;
namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void cannot_read(const fs::path& path, const std::string& why) {
  throw core::Error(fmt::format("cannot read {}: {}", path.string(), why));
}

// Bounded even for files without an end.
std::string file_text(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) cannot_read(path, "it is a directory");
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) cannot_read(path, std::generic_category().message(errno));
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    text.append(chunk.data(), n);
    if (text.size() > Document::max_bytes) {
      throw core::InputError(path.string(),
                             fmt::format("the document is larger than the limit of {} MiB", Document::max_bytes >> 20));
    }
  }
  if (std::ferror(file.get()) != 0) cannot_read(path, std::generic_category().message(errno));
  return text;
}

json parsed_object(std::string_view text, const std::string& source) {
  core::Problems problems;
  json root;
  if (text.size() > Document::max_bytes) {
    problems.add(source, "the document is larger than the limit of {} MiB", Document::max_bytes >> 20);
  } else if (parse(text, source, root, problems) && !root.is_object()) {
    problems.add(source, "expected a JSON object, found {}", root.type_name());
  }
  problems.raise_if_any();
  if (const auto schema = root.find("$schema"); schema != root.end() && schema->is_string()) root.erase(schema);
  return root;
}

// RFC 7386, recording the origin of every subtree that the patch brings. Depth is bounded by the parser.
void merge(Content& content, json& target, const json& patch, const std::string& pointer, const std::string& origin) {
  if (!patch.is_object()) {
    target = patch;
    content.claim(pointer, origin);
    return;
  }
  if (!target.is_object()) {
    target = json::object();
    content.claim(pointer, origin);
  }
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(key);
    } else {
      merge(content, target[key], value, child(pointer, key), origin);
    }
  }
}

// Files, and names of stored documents, that extend each other, outermost first.
struct Chain {
  std::vector<fs::path> paths;
  const Document::NamedBase& named;
};

void load_into(Content& content, const fs::path& path, Chain& chain);
void merge_over_base(Content& content, json own, const std::string& source, const fs::path& path, Chain& chain);

void enter(Chain& chain, const fs::path& path, const fs::path& canonical) {
  if (std::find(chain.paths.begin(), chain.paths.end(), canonical) != chain.paths.end()) {
    throw core::InputError(path.string(), "the document extends itself, directly or through others");
  }
  if (chain.paths.size() > static_cast<std::size_t>(Document::max_extends)) {
    throw core::InputError(path.string() + ":/extends",
                           fmt::format("more than {} documents extend each other", Document::max_extends));
  }
  chain.paths.push_back(canonical);
}

// False: the name is none of a stored document, but a path.
bool load_stored(Content& content, const std::string& name, const std::string& place, Chain& chain) {
  const auto text = chain.named ? chain.named(name, place) : std::nullopt;
  if (!text) return false;
  enter(chain, name, "stored document " + name);
  merge_over_base(content, parsed_object(*text, name), name, {}, chain);
  return true;
}

// extending: the file that has the "extends"; empty: a stored document, which can only name others.
void load_base(Content& content, const std::string& name, const std::string& source, const fs::path& extending,
               Chain& chain) {
  if (load_stored(content, name, source + ":/extends", chain)) return;
  if (extending.empty())
    throw core::InputError(source + ":/extends", "a stored document extends another stored one, not a file");
  try {
    load_into(content, (extending.parent_path() / name).lexically_normal(), chain);
  } catch (const core::Error& e) {
    throw core::Error(fmt::format("{} (extended by {})", e.what(), source));
  }
}

void load_into(Content& content, const fs::path& path, Chain& chain) {
  std::error_code ignored;
  enter(chain, path, fs::weakly_canonical(path, ignored));
  const std::string text = file_text(path);
  content.digests.push_back(core::sha256(text));
  merge_over_base(content, parsed_object(text, path.string()), path.string(), path, chain);
}

void merge_over_base(Content& content, json own, const std::string& source, const fs::path& path, Chain& chain) {
  const auto extends = own.find("extends");
  if (extends == own.end()) {
    *content.root = std::move(own);
    content.origins = {{"", source + ":"}};
    return;
  }
  if (!extends->is_string() || extends->get_ref<const std::string&>().empty()) {
    throw core::InputError(source + ":/extends",
                           "expected the path of a document, relative to this one, or the name of a stored one");
  }
  const auto base = extends->get<std::string>();
  own.erase(extends);
  load_base(content, base, source, path, chain);
  merge(content, *content.root, own, "", source + ":");
}

void collect_numbers(const json& node, const std::string& pointer, std::vector<std::string>& out) {
  if (node.is_number() || node.is_null()) out.push_back(pointer);
  if (node.is_object())
    for (const auto& [key, value] : node.items()) collect_numbers(value, child(pointer, key), out);
  if (node.is_array())
    for (std::size_t i = 0; i < node.size(); ++i) collect_numbers(node[i], child(pointer, i), out);
}

// The value a pointer names, or null.
const json* find(const json& root, std::string_view pointer) {
  const std::optional<std::vector<std::string>> keys = keys_of(pointer);
  if (!keys) return nullptr;
  const json* node = &root;
  for (const std::string& key : *keys) {
    if (node->is_object() && node->contains(key)) {
      node = &(*node)[key];
    } else if (const auto index = index_of(key); node->is_array() && index && *index < node->size()) {
      node = &(*node)[*index];
    } else {
      return nullptr;
    }
  }
  return node;
}

}  // namespace

Document::Content::Content() : root(std::make_unique<json>()) {}
Document::Content::Content(const Content& other)
    : root(std::make_unique<json>(*other.root)), origins(other.origins), digests(other.digests) {}
Document::Content::~Content() = default;

void Document::Content::claim(const std::string& pointer, const std::string& origin) {
  const std::string inside = pointer + "/";
  auto below = origins.lower_bound(inside);
  while (below != origins.end() && below->first.starts_with(inside)) below = origins.erase(below);
  origins[pointer] = origin;
}

Document::Document(std::unique_ptr<Content> content) : content_(std::move(content)) {}
Document::Document(const Document& other) : content_(std::make_unique<Content>(*other.content_)) {}
Document::Document(Document&& other) noexcept = default;
Document& Document::operator=(Document other) noexcept {
  content_.swap(other.content_);
  return *this;
}
Document::~Document() = default;

Document Document::load(const fs::path& path, const NamedBase& named) {
  auto content = std::make_unique<Content>();
  Chain chain{{}, named};
  load_into(*content, path, chain);
  return Document(std::move(content));
}

Document Document::stored(const std::string& name, const NamedBase& named) {
  auto content = std::make_unique<Content>();
  Chain chain{{}, named};
  SERVECAST_ENSURE(load_stored(*content, name, name, chain), "{} is no stored document", name);
  return Document(std::move(content));
}

Document Document::from_text(std::string_view text, std::string place) {
  auto content = std::make_unique<Content>();
  *content->root = parsed_object(text, place);
  if (content->root->contains("extends")) {
    throw core::InputError(place + ":/extends", "only a document in a file can extend another");
  }
  content->origins = {{"", place + ":"}};
  return Document(std::move(content));
}

Document Document::from_inline(const Reference& reference) {
  Document document = from_text(reference.inline_json, reference.place);
  document.content_->origins = {{"", reference.place}};
  return document;
}

bool Document::contains(std::string_view pointer) const { return find(*content_->root, pointer) != nullptr; }

bool Document::is_null(std::string_view pointer) const {
  const json* node = find(*content_->root, pointer);
  return node != nullptr && node->is_null();
}

std::optional<double> Document::number(std::string_view pointer) const {
  const json* node = find(*content_->root, pointer);
  if (node == nullptr || !node->is_number()) return std::nullopt;
  return node->get<double>();
}

std::string Document::place(std::string_view pointer) const {
  std::string prefix(pointer);
  auto origin = content_->origins.find(prefix);
  while (origin == content_->origins.end()) {
    prefix.erase(prefix.rfind('/'));
    origin = content_->origins.find(prefix);
  }
  const bool whole_file = pointer.empty() && origin->second.ends_with(':');
  return origin->second + (whole_file ? "/" : printable(pointer, pointer.size()));
}

std::vector<std::string> Document::number_pointers() const {
  std::vector<std::string> out;
  collect_numbers(*content_->root, "", out);
  return out;
}

const std::vector<std::string>& Document::digests() const { return content_->digests; }

std::string Document::text() const { return content_->root->dump(); }

}  // namespace servecast::config
