#include "model/architecture.hpp"

#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "model/parameters.hpp"

#include <string>
#include <vector>

using namespace servecast;
using model::Architecture;

namespace {

Architecture small_dense() {
  Architecture a;
  a.layers = 2;
  a.hidden = 8;
  a.vocab = 10;
  a.dense_layers = 2;
  a.intermediate = 16;
  a.attention.heads = 4;
  a.attention.kv_heads = 2;
  a.attention.head_dim = 2;
  return a;
}

std::vector<std::string> complaints(const Architecture& a) {
  std::vector<std::string> all;
  model::check(
      a, [&](std::string_view key, const std::string& message) { all.push_back(std::string(key) + ": " + message); });
  return all;
}

std::vector<std::string> read_problems(const std::string& text) {
  Architecture a;
  core::Problems problems;
  config::read(config::Document::from_text(text, "m.json"), a, problems);
  return problems.lines();
}

}  // namespace

TEST_CASE("a small dense model is counted by hand") {
  // attention 8*(8 + 2*4) + 8*8 = 192, MLP 3*8*16 = 384, norms 2*8 = 16; final norm 8, embedding and head 80 each
  const model::Parameters n = model::count_parameters(small_dense());
  CHECK(n.total == 2 * (192 + 384 + 16) + 8 + 80 + 80);
  CHECK(n.active == n.total);
  CHECK(n.active_without_embedding == n.total - 80);
}

TEST_CASE("tied embeddings are counted once") {
  Architecture a = small_dense();
  a.tied_embeddings = true;
  CHECK(model::count_parameters(a).total == 2 * (192 + 384 + 16) + 8 + 80);
}

TEST_CASE("a gate on the attention output and on the shared expert have parameters") {
  Architecture a = small_dense();
  const auto before = model::count_parameters(a).total;
  a.attention.output_gate = true;
  CHECK(model::count_parameters(a).total == before + 2 * 8 * 8);
  a.moe = model::Moe{};
  a.moe->shared_experts = 1;
  a.moe->shared_intermediate = 5;
  const auto shared = model::parameter_parts(a).shared;
  a.moe->shared_gate = true;
  CHECK(shared == 3 * 8 * 5);
  CHECK(model::parameter_parts(a).shared == shared + 8);
}

TEST_CASE("an architecture that adds up has no complaints") { CHECK(complaints(small_dense()).empty()); }

TEST_CASE("heads that KV heads do not divide are refused") {
  Architecture a = small_dense();
  a.attention.kv_heads = 3;
  CHECK(complaints(a) == std::vector<std::string>{"attention/kv_heads: 3 does not divide 4 query heads"});
}

TEST_CASE("dense and MoE layers must add up to the layers") {
  Architecture a = small_dense();
  a.dense_layers = 1;
  CHECK(complaints(a) == std::vector<std::string>{"dense_layers: 1 dense and 0 MoE layers do not add up to 2 layers"});
}

TEST_CASE("MLA without its widths is refused once per missing width") {
  Architecture a = small_dense();
  a.attention.kind = model::AttentionKind::Mla;
  CHECK(complaints(a).size() == 4);
}

TEST_CASE("a window needs to know how many layers use it") {
  Architecture a = small_dense();
  a.attention.window = 128;
  CHECK(complaints(a).size() == 1);
  a.attention.windowed_layers = 3;
  CHECK(complaints(a) == std::vector<std::string>{"attention/windowed_layers: 3 exceeds 2 layers"});
}

TEST_CASE("a model file with several mistakes reports them all, with their places") {
  const auto lines = read_problems(R"({"name": "x", "family": "llama", "layers": 2, "hidden": -8, "vocab": 10,
      "dense_layers": 2, "intermediate": 16, "attention": {"heads": 4, "kv_heds": 2, "head_dim": 2},
      "max_position": 100, "source": "test"})");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("m.json:/hidden") == 0);
  const std::string all = lines[1] + lines[2];
  CHECK(all.find("m.json:/attention/kv_heds") != std::string::npos);
  CHECK(all.find("m.json:/attention/kv_heads") != std::string::npos);
}

TEST_CASE("cross-field rules are applied when a model file is read") {
  const auto lines = read_problems(R"({"name": "x", "family": "llama", "layers": 2, "hidden": 8, "vocab": 10,
      "dense_layers": 2, "attention": {"heads": 4, "kv_heads": 2, "head_dim": 2}, "max_position": 100,
      "source": "t"})");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "m.json:/intermediate: absent although there are dense layers");
}
