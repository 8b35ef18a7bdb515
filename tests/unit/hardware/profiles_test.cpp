#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "hardware/gpu.hpp"

#include <filesystem>
#include <set>
#include <string>

using namespace servecast;
using namespace servecast::hardware;

namespace {

std::filesystem::path profiles() { return std::filesystem::path(SERVECAST_SOURCE_DIR) / "hardware_profiles"; }

template <typename T>
T load(const std::filesystem::path& path) {
  return config::read<T>(config::Document::load(path));
}

std::set<std::string> names_in(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(profiles() / folder)) {
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  return names;
}

}  // namespace

TEST_CASE("every GPU profile reads, is named after its file and has an origin for every number") {
  for (const std::string& name : names_in("gpus")) {
    CAPTURE(name);
    CHECK(load<Gpu>(profiles() / "gpus" / (name + ".json")).name == name);
  }
}

TEST_CASE("the GPUs a user may name are there") {
  const auto names = names_in("gpus");
  for (const char* name : {"b200", "gb200", "b300", "h100", "h200", "a100-80gb", "a100-40gb", "h20", "l40s",
                           "rtx-pro-6000", "mi300x", "mi355x"}) {
    CHECK(names.contains(name));
  }
}

TEST_CASE("every node profile reads and names a GPU and a fabric that exist") {
  const auto gpus = names_in("gpus");
  const auto fabrics = names_in("fabrics");
  for (const std::string& name : names_in("nodes")) {
    CAPTURE(name);
    const Node n = load<Node>(profiles() / "nodes" / (name + ".json"));
    CHECK(n.name == name);
    CHECK(gpus.contains(n.gpu));
    CHECK(fabrics.contains(n.fabric));
  }
}

TEST_CASE("the B200 profile holds dense peaks and the memory that software sees") {
  const Gpu g = load<Gpu>(profiles() / "gpus" / "b200.json");
  CHECK(g.dense.fp4 == 9000);
  CHECK(g.dense.fp8 == 4500);
  CHECK(g.dense.bf16 == 2250);
  CHECK(g.memory_gib == 178.35);
  CHECK(origin_of(g.origin, "memory_gib")->kind == Evidence::Measured);
}
