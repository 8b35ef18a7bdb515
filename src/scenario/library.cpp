#include "scenario/library.hpp"

#include "config/closest.hpp"
#include "config/utf8.hpp"
#include "scenario/embedded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace servecast::scenario {

namespace {

constexpr std::string_view folders[] = {"models/",
                                        "hardware_profiles/gpus/",
                                        "hardware_profiles/nodes/",
                                        "hardware_profiles/fabrics/",
                                        "hardware_profiles/stacks/",
                                        "scenarios/"};
constexpr std::string_view extension = ".json";

std::string_view folder_of(Kind kind) { return folders[static_cast<std::size_t>(kind)]; }

// "hardware_profiles/stacks/vllm-0.19.json" or ".../vllm-0.19/stack.json" -> "vllm-0.19"; other files have no name, but
// scenarios, which may lie in folders: "scenarios/papers/pagedattention.json" -> "pagedattention".
std::optional<std::string_view> document_name(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder) || !path.ends_with(extension)) return std::nullopt;
  path.remove_prefix(folder.size());
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return path.substr(0, path.size() - extension.size());
  if (folder == folder_of(Kind::Scenario))
    return path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 1 - extension.size());
  if (path.substr(slash) == "/stack.json") return path.substr(0, slash);
  return std::nullopt;
}

// What to do about a name that is no built-in document but lies on the disk.
std::string on_disk(const std::string& name, const std::string& place) {
  const std::string path = resolve_path(place, name);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "; it is a folder: name a file in it";
  if (std::filesystem::exists(path, ignored))
    return fmt::format("; to read the file of this name write \"./{}\"", name);
  return "; a name that ends in .json is read as a file";
}

std::string unknown(Kind kind, const std::string& name, const std::string& place) {
  return fmt::format("unknown {} \"{}\"{}{}", name_of(kind), config::printable(name), config::hint(name, names(kind)),
                     on_disk(name, place));
}

// Bases of documents of this kind: named like everything else of it.
config::Document::NamedBase bases(Kind kind) {
  return [kind](const std::string& name, const std::string& place) -> std::optional<std::string_view> {
    if (is_path(name)) return std::nullopt;
    if (const auto text = find(kind, name)) return text;
    throw core::InputError(place, unknown(kind, name, place));
  };
}

std::optional<config::Document> load_built_in(Kind kind, const config::Reference& reference, core::Problems& problems) {
  if (find(kind, reference.name)) return config::Document::stored(reference.name, bases(kind));
  problems.add(reference.place, unknown(kind, reference.name, reference.place));
  return std::nullopt;
}

}  // namespace

std::vector<std::string> names(Kind kind) {
  std::vector<std::string> out;
  for (const EmbeddedFile& file : embedded_files())
    if (const auto name = document_name(file.path, folder_of(kind))) out.emplace_back(*name);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::string_view> find(Kind kind, std::string_view name) {
  const std::string flat = fmt::format("{}{}{}", folder_of(kind), name, extension);
  if (const auto text = find_file(flat)) return text;
  if (kind == Kind::Scenario) return find_file(fmt::format("{}papers/{}{}", folder_of(kind), name, extension));
  return find_file(fmt::format("{}{}/stack.json", folder_of(kind), name));
}

std::optional<std::string_view> find_file(std::string_view path) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.path == path) return file.text;
  return std::nullopt;
}

std::vector<std::string> files_under(std::string_view folder) {
  std::vector<std::string> out;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with(folder)) out.emplace_back(file.path);
  return out;
}

std::optional<config::Document> load(Kind kind, const config::Reference& reference, core::Problems& problems) {
  try {
    if (!reference.inline_json.empty()) return config::Document::from_inline(reference);
    if (is_path(reference.name))
      return config::Document::load(resolve_path(reference.place, reference.name), bases(kind));
    return load_built_in(kind, reference, problems);
  } catch (const core::InputError& error) {
    for (const std::string& line : error.lines()) problems.add("", line);
    return std::nullopt;
  }
}

bool is_path(std::string_view name) { return name.find('/') != std::string_view::npos || name.ends_with(extension); }

std::string resolve_path(const std::string& place, const std::string& path) {
  const auto colon = place.rfind(":/");
  if (path.starts_with('/') || colon == std::string::npos) return path;
  const auto slash = place.rfind('/', colon);
  return slash == std::string::npos ? path : place.substr(0, slash + 1) + path;
}

}  // namespace servecast::scenario
