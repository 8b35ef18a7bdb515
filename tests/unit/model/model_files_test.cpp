#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "model/architecture.hpp"
#include "model/kv_bytes.hpp"
#include "model/model_file.hpp"
#include "model/parameters.hpp"
#include "model_facts.hpp"

#include <filesystem>
#include <iterator>
#include <set>
#include <string>

using namespace servecast;

namespace {

std::filesystem::path models_folder() { return std::filesystem::path(SERVECAST_SOURCE_DIR) / "models"; }

model::Architecture load(const std::string& name) {
  return config::read<model::Architecture>(config::Document::load(models_folder() / (name + ".json")));
}

}  // namespace

TEST_CASE("every model file counts the parameters and KV bytes of its published configuration") {
  for (const ModelFacts& facts : model_facts) {
    CAPTURE(facts.name);
    const model::Architecture a = load(facts.name);
    const model::Parameters n = model::count_parameters(a);
    CHECK(a.name == facts.name);
    CHECK(n.total == facts.total);
    CHECK(n.active == facts.active);
    CHECK(n.active_without_embedding == facts.active_without_embedding);
    CHECK(model::kv_bytes(a, precision::Format::BFloat16, 1).per_token == facts.kv_bf16);
    CHECK(model::kv_bytes(a, precision::Format::Fp8, 1).per_token == facts.kv_fp8);
    CHECK(model::kv_bytes(a, precision::Format::BFloat16, 1).beyond_window == facts.kv_bf16_beyond_window);
    CHECK(model::kv_bytes(a, precision::Format::BFloat16, 1).per_sequence == facts.per_sequence);
  }
}

TEST_CASE("every model file is in the table of facts, states its source and has published figures") {
  std::set<std::string> known;
  for (const ModelFacts& facts : model_facts) known.insert(facts.name);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder())) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    CHECK(known.contains(name));
    const model::Architecture a = load(name);
    CHECK_FALSE(a.source.empty());
    REQUIRE(a.published);
    CHECK_FALSE(a.published->counting.empty());
  }
  CHECK(files == std::size(model_facts));
}

TEST_CASE("a written model file reads back as the same model") {
  for (const ModelFacts& facts : model_facts) {
    CAPTURE(facts.name);
    const std::string text = model::model_file(load(facts.name));
    const auto again = config::read<model::Architecture>(config::Document::from_text(text, "again.json"));
    CHECK(model::model_file(again) == text);
    CHECK(model::count_parameters(again).total == facts.total);
  }
}

TEST_CASE("the indexer of DeepSeek-V3.2 adds 8052 bytes per token to its cache") {
  const model::Architecture a = load("deepseek-v3.2");
  CHECK(model::kv_bytes(a, precision::Format::Fp8, 8).indexer == 8052);
  CHECK(a.layers * model::sparse_mla_fp8_bytes == 40016);
}
