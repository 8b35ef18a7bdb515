#include "model/footprint.hpp"

#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "model/parameters.hpp"

#include <filesystem>
#include <string>

using namespace servecast;
using namespace servecast::model;
using precision::Format;

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

Architecture load(const std::string& name) {
  const auto path = std::filesystem::path(SERVECAST_SOURCE_DIR) / "models" / (name + ".json");
  return config::read<Architecture>(config::Document::load(path));
}

TensorFormats all(Format f) { return {f, f, f, f, f, f, std::nullopt}; }

Shard tensor(std::int32_t t) {
  Shard s;
  s.tensor = t;
  return s;
}

double weights_gib(const std::string& name, const Shard& s) {
  const Architecture m = load(name);
  return static_cast<double>(weight_bytes(m, m.formats, s).total()) / gib;
}

}  // namespace

TEST_CASE("at one rank 16-bit weights are two bytes per parameter plus the vocabulary's padding") {
  for (const char* name : {"llama-3.1-8b", "qwen3-0.6b", "qwen2.5-7b", "opt-13b", "mixtral-8x7b", "deepseek-v2-lite",
                           "deepseek-v3.2", "gpt-oss-20b", "glm-4.5", "llama-4-maverick", "minimax-m2.5"}) {
    CAPTURE(name);
    const Architecture m = load(name);
    const std::int64_t padded_rows = (m.vocab + 63) / 64 * 64 - m.vocab;
    const std::int64_t padding = padded_rows * m.hidden * (m.tied_embeddings ? 1 : 2);
    CHECK(weight_bytes(m, all(Format::BFloat16), tensor(1)).total() == 2 * (count_parameters(m).total + padding));
  }
}

TEST_CASE("weights agree with what engines logged when loading") {
  // Logged by vLLM, GiB per GPU.
  CHECK(weights_gib("llama-3.1-8b", tensor(1)) == Approx(14.9888).margin(0.05));
  CHECK(weights_gib("llama-3.1-8b", tensor(2)) == Approx(7.51).margin(0.05));
  CHECK(weights_gib("qwen3-0.6b", tensor(1)) == Approx(1.12).margin(0.05));
  CHECK(weights_gib("qwen2.5-1.5b", tensor(1)) == Approx(2.88).margin(0.05));
  CHECK(weights_gib("qwen3-8b", tensor(1)) == Approx(15.28).margin(0.05));
}

TEST_CASE("padding the MXFP4 experts of gpt-oss explains the logged weights") {
  Shard s;
  CHECK(weights_gib("gpt-oss-120b", s) < 61.0);
  s.padding = mxfp4_expert_padding();
  CHECK(weights_gib("gpt-oss-120b", s) == Approx(64.33).margin(0.01));
  CHECK(weights_gib("gpt-oss-20b", s) == Approx(13.41).margin(0.01));
}

TEST_CASE("layer ranges add up to the whole model") {
  const Architecture m = load("deepseek-v3");
  Shard first;
  first.tensor = 8;
  first.layers = {0, 31};
  Shard second = first;
  second.layers = {31, -1};
  const WeightBytes a = weight_bytes(m, m.formats, first);
  const WeightBytes b = weight_bytes(m, m.formats, second);
  CHECK(a.total() + b.total() == weight_bytes(m, m.formats, tensor(8)).total());
  CHECK(a.embedding > 0);
  CHECK(a.lm_head == 0);
  CHECK(b.embedding == 0);
  CHECK(b.lm_head > 0);
}

TEST_CASE("tied embeddings are held by both end stages of a pipeline") {
  const Architecture m = load("llama-3.2-1b");
  Shard last;
  last.layers = {8, 8};
  CHECK(weight_bytes(m, m.formats, last).lm_head == std::int64_t{128256} * 2048 * 2);
  CHECK(weight_bytes(m, m.formats, tensor(1)).lm_head == 0);
}

TEST_CASE("dense blocks come first unless the model alternates") {
  CHECK(moe_layers_in(load("deepseek-v3"), {0, 10}) == 7);
  CHECK(moe_layers_in(load("deepseek-v3"), {10, 10}) == 10);
  const Architecture maverick = load("llama-4-maverick");
  CHECK(moe_layers_in(maverick, {0, -1}) == 24);
  CHECK(moe_layers_in(maverick, {0, 1}) == 0);
  CHECK(moe_layers_in(maverick, {1, 1}) == 1);
}

TEST_CASE("experts are split over expert ranks, and tensor-wise inside them") {
  const Architecture m = load("mixtral-8x7b");
  Shard s = tensor(8);
  const std::int64_t split = weight_bytes(m, m.formats, s).experts;
  s.expert = 8;
  CHECK(weight_bytes(m, m.formats, s).experts == split);
  s = tensor(2);
  s.data = 4;
  s.expert = 8;
  CHECK(weight_bytes(m, m.formats, s).experts == split);
  CHECK(weight_bytes(m, m.formats, tensor(1)).experts == 8 * split);
}

TEST_CASE("routers and MLA down projections are held by every rank") {
  const Architecture m = load("deepseek-v3");
  CHECK(weight_bytes(m, m.formats, tensor(8)).router == weight_bytes(m, m.formats, tensor(1)).router);
  CHECK(8 * weight_bytes(m, m.formats, tensor(8)).attention > weight_bytes(m, m.formats, tensor(1)).attention);
  CHECK(absorbed_mla_bytes(m, tensor(8)) == std::int64_t{61} * 16 * 256 * 512 * 2);
  CHECK(absorbed_mla_bytes(load("mixtral-8x7b"), tensor(1)) == 0);
}

TEST_CASE("quantising a model leaves router, LM head and embedding alone") {
  const TensorFormats f = quantised(all(Format::BFloat16), Format::Nvfp4);
  CHECK(f.attention == Format::Nvfp4);
  CHECK(f.experts == Format::Nvfp4);
  CHECK(f.router == Format::BFloat16);
  CHECK(f.lm_head == Format::BFloat16);
}

TEST_CASE("an output projection may have a format of its own") {
  const Architecture m = load("deepseek-v3");
  TensorFormats f = all(Format::BFloat16);
  const std::int64_t before = weight_bytes(m, f, tensor(1)).attention;
  f.attention_output = Format::Fp8;
  CHECK(before - weight_bytes(m, f, tensor(1)).attention == 61 * (std::int64_t{7168} * 128 * 128 - 4));
}

TEST_CASE("splits that do not divide the model are refused by name") {
  CHECK(shard_problem(load("llama-3.1-8b"), tensor(3)) == "tensor 3 does not divide 32 attention heads");
  CHECK(shard_problem(load("qwen2.5-7b"), tensor(7)) == "tensor 7 neither divides nor is a multiple of 4 KV heads");
  CHECK_FALSE(shard_problem(load("llama-3.1-8b"), tensor(16)));
  Shard s = tensor(8);
  s.expert = 16;
  CHECK(shard_problem(load("mixtral-8x7b"), s) == "expert 16 does not divide tensor x data = 8 ranks");
  s.expert = 8;
  CHECK(shard_problem(load("llama-3.1-8b"), s) == "expert 8 needs a mixture-of-experts model; use expert 1");
}

TEST_CASE("one format for every block's feed-forward part is the same as stating it by class") {
  for (const char* name : {"llama-3.1-8b", "deepseek-v3", "llama-4-maverick", "gpt-oss-120b"}) {
    const Architecture m = load(name);
    TensorFormats stated = all(Format::BFloat16);
    stated.mlp = stated.experts = Format::Nvfp4;
    TensorFormats chosen = all(Format::BFloat16);
    chosen.feed_forward.assign(static_cast<std::size_t>(m.layers), Format::Nvfp4);
    INFO(name);
    CHECK(weight_bytes(m, chosen, tensor(4)).total() == weight_bytes(m, stated, tensor(4)).total());
    CHECK(weight_bytes(m, chosen, tensor(4)).router == weight_bytes(m, stated, tensor(4)).router);
  }
}

TEST_CASE("formats by block add up block by block, dense and MoE blocks each in its place") {
  const Architecture m = load("deepseek-v3");  // blocks 0 to 2 are dense
  TensorFormats f = all(Format::BFloat16);
  f.feed_forward.assign(61, Format::Fp8);
  f.feed_forward[0] = f.feed_forward[60] = Format::BFloat16;
  const std::vector<FeedForwardGroup> groups = feed_forward_groups(m, f, {});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].mlp == Format::BFloat16);
  CHECK(groups[0].dense_layers() == 1);
  CHECK(groups[0].moe_layers == 1);
  CHECK(groups[1].experts == Format::Fp8);
  CHECK(groups[1].dense_layers() == 2);
  CHECK(groups[1].moe_layers == 57);
  Shard first = tensor(8);
  Shard rest = tensor(8);
  first.layers = {0, 30};
  rest.layers = {30, 31};
  const WeightBytes a = weight_bytes(m, f, first);
  const WeightBytes b = weight_bytes(m, f, rest);
  const WeightBytes whole = weight_bytes(m, f, tensor(8));
  CHECK(a.mlp + b.mlp == whole.mlp);
  CHECK(a.experts + b.experts == whole.experts);
}

TEST_CASE("quantising a checkpoint drops what was chosen by block") {
  TensorFormats f = all(Format::BFloat16);
  f.feed_forward.assign(4, Format::Nvfp4);
  CHECK(quantised(f, Format::Fp8).feed_forward.empty());
}
