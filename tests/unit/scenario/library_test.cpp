#include "scenario/library.hpp"

#include "catch.hpp"
#include "scenario/build.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace servecast;

namespace {

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

TEST_CASE("every kind of document is built in and found by its name") {
  for (const auto kind : {scenario::Kind::Model, scenario::Kind::Gpu, scenario::Kind::Node, scenario::Kind::Fabric,
                          scenario::Kind::Stack, scenario::Kind::Scenario}) {
    const auto all = scenario::names(kind);
    INFO(scenario::name_of(kind));
    CHECK_FALSE(all.empty());
    CHECK(std::is_sorted(all.begin(), all.end()));
    for (const auto& name : all) CHECK(scenario::find(kind, name).has_value());
  }
  CHECK(has(scenario::names(scenario::Kind::Model), "llama-3.1-70b"));
  CHECK(has(scenario::names(scenario::Kind::Node), "hgx-b200"));
  CHECK(has(scenario::names(scenario::Kind::Scenario), "quickstart"));
  CHECK_FALSE(scenario::find(scenario::Kind::Model, "hgx-b200").has_value());
}

TEST_CASE("every stored scenario resolves and fits, those that extend others too") {
  for (const auto& name : scenario::names(scenario::Kind::Scenario)) {
    INFO(name);
    const scenario::Resolved r = scenario::resolve({name, {}, {}});
    CHECK(scenario::fit_all(r).problem.empty());
  }
}

TEST_CASE("embedded text equals the file") {
  std::ostringstream on_disk;
  on_disk << std::ifstream(SERVECAST_SOURCE_DIR "/scenarios/quickstart.json").rdbuf();
  CHECK(*scenario::find(scenario::Kind::Scenario, "quickstart") == on_disk.str());
}

TEST_CASE("an unknown name is reported with the nearest known one") {
  core::Problems problems;
  CHECK_FALSE(scenario::load(scenario::Kind::Model, {"lama-3.1-70b", "", "s.json:/model"}, problems).has_value());
  REQUIRE(problems.lines().size() == 1);
  CHECK(problems.lines()[0].find("s.json:/model: unknown model \"lama-3.1-70b\"; did you mean \"llama-3.1-70b\"?") ==
        0);
}

TEST_CASE("an inline document keeps its place") {
  core::Problems problems;
  const auto document = scenario::load(scenario::Kind::Node, {"", R"({"gpus": 4})", "s.json:/cluster/node"}, problems);
  REQUIRE(document.has_value());
  CHECK(document->place("/gpus") == "s.json:/cluster/node/gpus");
}

TEST_CASE("a missing file is the outside world's fault, a malformed document the user's") {
  core::Problems problems;
  CHECK_THROWS_AS(scenario::load(scenario::Kind::Model, {"no/such.json", "", "s.json:/model"}, problems), core::Error);
  CHECK_FALSE(scenario::load(scenario::Kind::Model, {"", "{", "s.json:/model"}, problems).has_value());
  CHECK(problems.lines().size() == 1);
}

TEST_CASE("paths are relative to the file that names them") {
  CHECK(scenario::resolve_path("a/b/s.json:/model", "m.json") == "a/b/m.json");
  CHECK(scenario::resolve_path("s.json:/model", "m.json") == "m.json");
  CHECK(scenario::resolve_path("a/s.json:/model", "/m.json") == "/m.json");
  CHECK(scenario::resolve_path("--set /workload/trace", "x/t.csv") == "x/t.csv");
  CHECK(scenario::is_path("m.json"));
  CHECK(scenario::is_path("dir/m"));
  CHECK_FALSE(scenario::is_path("llama-3.1-8b"));
}
