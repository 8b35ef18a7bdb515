#include "scenario/library.hpp"

#include "catch.hpp"

#include <algorithm>

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

TEST_CASE("embedded text equals the file") {
  core::Problems problems;
  const config::Reference file{SERVECAST_SOURCE_DIR "/scenarios/quickstart.json", "", "test:/x"};
  const auto on_disk = scenario::load(scenario::Kind::Scenario, file, "", problems);
  REQUIRE(on_disk.has_value());
  CHECK(on_disk->text == *scenario::find(scenario::Kind::Scenario, "quickstart"));
  CHECK(problems.empty());
}

TEST_CASE("an unknown name is reported with the nearest known one") {
  core::Problems problems;
  CHECK_FALSE(scenario::load(scenario::Kind::Model, {"lama-3.1-70b", "", "s.json:/model"}, "s.json", problems).has_value());
  REQUIRE(problems.lines().size() == 1);
  CHECK(problems.lines()[0].find("s.json:/model: unknown model \"lama-3.1-70b\"; did you mean \"llama-3.1-70b\"?") == 0);
}

TEST_CASE("an inline document keeps its place") {
  core::Problems problems;
  const auto text = scenario::load(scenario::Kind::Node, {"", "{}", "s.json:/cluster/node"}, "s.json", problems);
  REQUIRE(text.has_value());
  CHECK(text->text == "{}");
  CHECK(text->place == "s.json:/cluster/node");
}

TEST_CASE("a missing file is the outside world's fault") {
  core::Problems problems;
  CHECK_THROWS_AS(scenario::load(scenario::Kind::Model, {"no/such.json", "", "s.json:/model"}, "s.json", problems), core::Error);
}

TEST_CASE("paths are relative to the document that names them") {
  CHECK(scenario::relative_to("a/b/s.json", "m.json") == "a/b/m.json");
  CHECK(scenario::relative_to("s.json", "m.json") == "m.json");
  CHECK(scenario::relative_to("a/s.json", "/m.json") == "/m.json");
  CHECK(scenario::is_path("m.json"));
  CHECK(scenario::is_path("dir/m"));
  CHECK_FALSE(scenario::is_path("llama-3.1-8b"));
}
