// The documents built into the binary: models, GPUs, nodes, fabrics, stacks and scenario templates, by kind and name.
// Only the document asked for is parsed. Files on disk are read only when a reference says so: a name with '/' or one
// that ends in ".json" is a path, relative to the document that gives it. "extends" follows the same rule.
#pragma once

#include "config/document.hpp"
#include "config/fields.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::scenario {

enum class Kind : std::uint8_t { Model, Gpu, Node, Fabric, Stack, Scenario };
inline constexpr std::string_view kind_names[] = {"model", "gpu", "node", "fabric", "stack", "scenario"};
constexpr std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

// Names of the built-in documents of one kind, ascending.
std::vector<std::string> names(Kind kind);
// Text of a built-in document; it lives as long as the program.
std::optional<std::string_view> find(Kind kind, std::string_view name);
// Any built-in file by its path in the source tree, e.g. "hardware_profiles/stacks/vllm-0.19/b200.json".
std::optional<std::string_view> find_file(std::string_view path);
// Paths of the built-in files under a folder, ascending.
std::vector<std::string> files_under(std::string_view folder);

// The document that a reference names or contains. An unknown name or a malformed document is added to problems, and
// nothing is returned; a file that cannot be read throws core::Error. Built-in documents have their name as place.
std::optional<config::Document> load(Kind kind, const config::Reference& reference, core::Problems& problems);
// True when a name means a file on disk.
bool is_path(std::string_view name);
// `path` as meant by the document at `place` ("dir/base.json:/workload/trace"): relative to that file's folder, and to
// the working folder for "--set /pointer" and built-in documents. Absolute paths stay.
std::string resolve_path(const std::string& place, const std::string& path);

}  // namespace servecast::scenario
