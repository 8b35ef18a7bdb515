#include "model/blocks.hpp"

#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "model/footprint.hpp"
#include "model/kv_bytes.hpp"
#include "model/parameters.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace servecast;
using precision::Format;

namespace {

model::Architecture load(const std::string& name) {
  const auto folder = std::filesystem::path(SERVECAST_SOURCE_DIR) / "models";
  return config::read<model::Architecture>(config::Document::load(folder / (name + ".json")));
}

// Three blocks: state and experts, attention and a dense MLP, nothing and a narrow MLP.
model::Architecture round_model() {
  model::Architecture a;
  a.layers = 3;
  a.hidden = 8;
  a.vocab = 10;
  a.dense_layers = 2;
  a.intermediate = 16;
  a.attention.heads = 4;
  a.attention.kv_heads = 2;
  a.attention.head_dim = 2;
  a.moe = model::Moe{};
  a.moe->experts = 4;
  a.moe->top_k = 2;
  a.moe->intermediate = 6;
  a.moe->layers = 1;
  a.state = model::StateMixer{};
  a.state->heads = 4;
  a.state->head_dim = 2;
  a.state->groups = 2;
  a.state->state_dim = 3;
  a.blocks = model::BlockOrder{};
  model::BlockKind state;
  state.letter = "s";
  state.mixer = model::Mixer::State;
  state.feed_forward = model::FeedForward::Experts;
  model::BlockKind attention;
  attention.letter = "a";
  model::BlockKind narrow;
  narrow.letter = "n";
  narrow.mixer = model::Mixer::None;
  narrow.intermediate = 4;
  a.blocks->kinds = {state, attention, narrow};
  a.blocks->order = "san";
  return a;
}

std::vector<std::string> problems_of(const model::Architecture& a) {
  std::vector<std::string> lines;
  model::check(
      a, [&](std::string_view key, const std::string& message) { lines.push_back(std::string(key) + ": " + message); });
  return lines;
}

}  // namespace

TEST_CASE("blocks are counted by their halves") {
  const model::Architecture a = round_model();
  CHECK(problems_of(a).empty());
  const model::Blocks b = model::blocks_of(a);
  REQUIRE(b.attention.size() == 1);
  CHECK(b.attention[0].count == 1);
  CHECK(b.state == 1);
  CHECK(b.experts == 1);
  REQUIRE(b.dense.size() == 2);
  CHECK(b.dense[0].width == 16);
  CHECK(b.dense[1].width == 4);
  CHECK(b.mixers() == 2);
  CHECK(b.feed_forwards() == 3);
  CHECK(b.norms == 2 + 2 + 1);
}

TEST_CASE("a stage has the blocks of its range") {
  const model::Architecture a = round_model();
  const model::Blocks b = model::blocks_of(a, {1, 2});
  CHECK(b.state == 0);
  CHECK(b.experts == 0);
  CHECK(b.dense.size() == 2);
  CHECK(model::moe_layers_in(a, {0, 1}) == 1);
  CHECK(model::moe_layers_in(a, {1, 2}) == 0);
}

TEST_CASE("parameters and bytes add up over kinds of blocks") {
  const model::Architecture a = round_model();
  // attention 8 x (8 + 2 x 4) + 8 x 8; state: in 8 x (8 + 20 + 4), out 64, convolution 20 x 4, 3 x 4 + 8 more
  const std::int64_t attention = 128 + 64;
  const std::int64_t state = 256 + 64 + 80 + 20;
  const std::int64_t experts = 4 * 3 * 8 * 6 + 8 * 4;
  const std::int64_t dense = 3 * 8 * 16 + 3 * 8 * 4;
  CHECK(model::count_parameters(a).total == attention + state + experts + dense + 5 * 8 + 8 + 2 * 80);
  model::Shard shard;
  shard.padding.vocab_multiple = 1;
  const model::WeightBytes w = model::weight_bytes(a, a.formats, shard);
  CHECK(w.total() == 2 * model::count_parameters(a).total);
  CHECK(w.attention == 2 * (attention + state));
}

TEST_CASE("a state of constant size is split over ranks by its heads") {
  const model::Architecture a = round_model();
  // 4 x 2 x 3 elements of 4 bytes, and 3 steps of 20 channels of 2 bytes
  CHECK(model::kv_bytes(a, Format::BFloat16, 1).per_sequence == 96 + 120);
  CHECK(model::kv_bytes(a, Format::BFloat16, 2).per_sequence == 48 + 60);
  // beyond the groups each rank keeps one
  CHECK(model::kv_bytes(a, Format::BFloat16, 4).per_sequence == 24 + 3 * (2 + 2 * 3) * 2);
  CHECK(model::kv_bytes(a, Format::BFloat16, 1).per_token == 2 * 2 * 2 * 2);
}

TEST_CASE("Nemotron 3 Ultra keeps 407,961,600 bytes of state and 12,288 bytes per token") {
  const model::Architecture a = load("nemotron-3-ultra-550b-a55b");
  CHECK(model::count_parameters(a).total == 549308993536);
  CHECK(model::count_parameters(a).active == 56058843136);
  const model::KvBytes kv = model::kv_bytes(a, Format::BFloat16, 1);
  CHECK(kv.per_sequence == 407961600);
  CHECK(kv.per_token == 12288);
}

TEST_CASE("64 of the 162 blocks of Nemotron Ultra attend") {
  const model::Architecture a = load("llama-3.1-nemotron-ultra-253b");
  CHECK(model::count_parameters(a).total == 253401268224);
  const model::Blocks b = model::blocks_of(a);
  CHECK(b.mixers() == 64);
  CHECK(b.feed_forwards() == 81);
  CHECK(model::kv_bytes(a, Format::BFloat16, 1).per_token == 262144);
}

TEST_CASE("an order that does not fit its kinds or counts is reported") {
  model::Architecture a = round_model();
  a.blocks->order = "sax";
  REQUIRE(problems_of(a).size() == 1);
  CHECK(problems_of(a)[0] == "blocks/order: \"x\" stands for no kind, or for several");
  a.blocks->order = "sa";
  CHECK(problems_of(a)[0] == "blocks/order: has 2 letters, but there are 3 layers");
  a = round_model();
  a.dense_layers = 3;
  CHECK(problems_of(a)[0] == "dense_layers: 3, but the blocks have 2");
  a = round_model();
  a.moe->layers = 2;
  CHECK(problems_of(a)[0] == "moe/layers: 2 MoE layers, but the blocks have 1");
}

TEST_CASE("a kind that needs what its model lacks is reported with its place") {
  model::Architecture a = round_model();
  a.state.reset();
  REQUIRE(problems_of(a).size() == 1);
  CHECK(problems_of(a)[0] == "blocks/kinds/0/mixer: \"state\" although the model states none; give state");
  a = round_model();
  a.blocks->kinds[1].mixer = model::Mixer::Cross;
  CHECK(problems_of(a)[0] == "blocks/kinds/1/mixer: \"cross\" needs encoder_tokens; give the tokens of the encoder");
  a = round_model();
  a.blocks.reset();
  a.dense_layers = 2;
  CHECK(problems_of(a)[0] == "state: given without blocks, which say where it is; give the kinds and their order");
}

TEST_CASE("a split that cuts a head or a group of a state is refused") {
  model::Architecture a = round_model();
  model::Shard s;
  s.tensor = 2;
  CHECK_FALSE(model::shard_problem(a, s));
  a.state->heads = 3;
  a.state->groups = 3;
  CHECK(model::shard_problem(a, s) == "tensor 2 does not divide 3 state heads");
  a.state->heads = 6;
  CHECK(model::shard_problem(a, s) == "tensor 2 neither divides nor is a multiple of 3 groups of states");
}
