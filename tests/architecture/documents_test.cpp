// Documents that name files and layers which exist, and data that names its sources.
#include "architecture/sources.hpp"
#include "catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace architecture;

namespace {

const std::vector<std::string> documents = {"docs", "README.md", "CONTRIBUTING.md"};

// Targets of [text](target) with their offsets; code blocks count too, which does no harm.
std::vector<std::pair<std::string, std::size_t>> links(const std::string& text) {
  std::vector<std::pair<std::string, std::size_t>> out;
  for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const auto end = text.find(')', at);
    if (end == std::string::npos) break;
    out.emplace_back(text.substr(at + 2, end - at - 2), at);
  }
  return out;
}

bool outside(const std::string& target) {
  return target.find("://") != std::string::npos || target.starts_with("mailto:") || target.starts_with("#");
}

// An empty folder is on this disk only: version control does not keep it.
bool kept(const std::filesystem::path& path) {
  return std::filesystem::exists(path) && !std::filesystem::is_empty(path);
}

bool has_text(const nlohmann::json& object, const std::string& key) {
  return object.contains(key) && object[key].is_string() && !object[key].get<std::string>().empty();
}

// Keys ("dense.bf16" for a nested one) that some entry of "origin" explains; complains of entries without kind or
// source.
std::set<std::string> explained_keys(const nlohmann::json& document, const File& file, Findings& findings) {
  static const std::set<std::string> kinds = {"measured", "specified", "derived", "assumed"};
  std::set<std::string> keys;
  for (const auto& entry : document.value("origin", nlohmann::json::array())) {
    const std::string kind = entry.value("kind", "");
    if (!kinds.contains(kind)) findings.add(file.path + ":/origin", "\"" + kind + "\" is no kind of evidence");
    if (!has_text(entry, "source")) findings.add(file.path + ":/origin", "an entry has no source");
    for (const auto& key : entry.value("keys", nlohmann::json::array())) keys.insert(key.get<std::string>());
  }
  return keys;
}

// Adds every number under `value` that is neither in `keys` itself nor inside something that is.
void unexplained(const nlohmann::json& value, const std::string& key, const std::set<std::string>& keys,
                 const File& file, Findings& findings) {
  if (keys.contains(key)) return;
  if (value.is_number()) findings.add(file.path, key + " has no entry in \"origin\"");
  if (!value.is_object()) return;
  for (const auto& [name, child] : value.items()) {
    if (key.empty() && (name == "origin" || name == "version")) continue;
    unexplained(child, key.empty() ? name : key + "." + name, keys, file, findings);
  }
}

}  // namespace

TEST_CASE("links in documents lead to files that exist") {
  Findings findings;
  for (const File& file : files(documents, {".md"})) {
    for (const auto& [target, offset] : links(file.text)) {
      if (outside(target)) continue;
      const auto folder = std::filesystem::path(SERVECAST_SOURCE_DIR) / std::filesystem::path(file.path).parent_path();
      if (!kept(folder / target.substr(0, target.find('#')))) {
        findings.add(place(file, offset), target + " does not exist");
      }
    }
  }
  CHECK(findings.text() == "");
}

TEST_CASE("paths named in documents exist") {
  Findings findings;
  for (const File& file : files(documents, {".md"})) {
    for (auto at = file.text.find('`'); at != std::string::npos; at = file.text.find('`', at + 1)) {
      const auto end = file.text.find('`', at + 1);
      if (end == std::string::npos) break;
      const std::string name = file.text.substr(at + 1, end - at - 1);
      const bool path = name.starts_with("src/") || name.starts_with("tests/") || name.starts_with("tools/") ||
                        name.starts_with("docs/") || name.starts_with("hardware_profiles/") ||
                        name.starts_with("models/");
      const bool example = name.find("NAME") != std::string::npos || name.find_first_of(" *") != std::string::npos;
      if (path && !example && !kept(std::filesystem::path(SERVECAST_SOURCE_DIR) / name)) {
        findings.add(place(file, at), name + " does not exist");
      }
      at = end;
    }
  }
  CHECK(findings.text() == "");
}

TEST_CASE("the architecture document describes every layer") {
  const auto found = files({"docs/ARCHITECTURE.md"});
  REQUIRE(found.size() == 1);
  for (const auto& layer : read_layers().order) {
    INFO("layer " << layer);
    CHECK(found.front().text.find("| " + layer + " |") != std::string::npos);
  }
}

TEST_CASE("every model names its source") {
  Findings findings;
  for (const File& file : files({"models"}, {".json"})) {
    const auto document = nlohmann::json::parse(file.text, nullptr, true, true);
    if (!has_text(document, "source")) findings.add(file.path + ":/source", "is missing or empty");
  }
  CHECK(findings.text() == "");
}

TEST_CASE("every number of a GPU or node profile names its kind and source") {
  Findings findings;
  for (const File& file : files({"hardware_profiles/gpus", "hardware_profiles/nodes"}, {".json"})) {
    const auto document = nlohmann::json::parse(file.text, nullptr, true, true);
    unexplained(document, "", explained_keys(document, file, findings), file, findings);
  }
  CHECK(findings.text() == "");
}

TEST_CASE("every fabric and stack profile names where its numbers come from") {
  Findings findings;
  for (const File& file : files({"hardware_profiles/fabrics", "hardware_profiles/stacks"}, {".json"})) {
    const auto document = nlohmann::json::parse(file.text, nullptr, true, true);
    const bool origin = document.contains("origin") && !document["origin"].empty();
    if (!origin && !has_text(document, "source")) findings.add(file.path, "has neither \"origin\" nor \"source\"");
  }
  CHECK(findings.text() == "");
}
