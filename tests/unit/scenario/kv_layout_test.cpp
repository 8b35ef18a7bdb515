#include "scenario/kv_layout.hpp"

#include "catch.hpp"
#include "config/json_reader.hpp"
#include "core/units.hpp"
#include "model/kv_bytes.hpp"
#include "scenario/library.hpp"

#include <string>

using namespace servecast;
using namespace servecast::scenario;
using precision::Format;

namespace {

model::Architecture load(const std::string& name) {
  return config::read<model::Architecture>(config::Document::from_text(*find(Kind::Model, name), name));
}

}  // namespace

TEST_CASE("an attention block grows until it holds a state, as a start log of Qwen3.5-35B-A3B shows") {
  // FP8 cache: 1,024 bytes per token and layer; a state of 2,097,152 bytes and 49,152 of convolution
  const KvLayout l = kv_layout(load("qwen3.5-35b-a3b"), Format::Fp8, 1, 16, {true, true});
  CHECK(l.block_size == 2096);
  CHECK(l.full_groups == 1);
  CHECK(l.state_groups == 3);
  CHECK(l.block_bytes == 10 * 2146304);
  CHECK(l.fixed_blocks == 6);
  // 5.69 GiB were logged as 148,816 tokens, and as 12.91 requests of 32,768
  const auto blocks = static_cast<std::int64_t>(5.69 * core::GiB / l.block_bytes);
  CHECK(blocks == 284);
  CHECK(blocks / l.groups() * l.block_size == 148816);
  CHECK(blocks_of(l, 32768, 2048) == 22);
  CHECK(blocks_held(l, 1) == 4);  // of each state one, but while the next block begins
}

TEST_CASE("without cached prefixes a request holds one state a layer") {
  const KvLayout l = kv_layout(load("qwen3.5-35b-a3b"), Format::BFloat16, 1, 16, {true, false});
  CHECK(l.block_size == 1056);  // the state does not fill it: 1,048 tokens rounded up to 16
  CHECK(l.fixed_blocks == 3);
}

TEST_CASE("layers with wider tokens have blocks of fewer of them") {
  // 4 KV heads of 512 in every sixth layer, 16 of 256 with a window of 1,024 in the others
  model::Architecture a = load("gemma-4-26b-a4b");
  const KvLayout l = kv_layout(a, Format::BFloat16, 1, 16, {true, true});
  CHECK(l.block_size == 32);
  CHECK(l.windowed_block_size == 16);
  CHECK(l.full_groups == 1);
  CHECK(l.windowed_groups == 5);
  CHECK(l.block_bytes == 5 * 16 * 8192);
  CHECK(l.fixed_blocks == 0);
  CHECK(blocks_held(l, 4096) == 4096 / 32 + 5 * 64);
  CHECK(l.bytes_per_token == 225280);
  CHECK(l.bytes_beyond_window == 20480);
}

TEST_CASE("pages that cannot be made equal are refused") {
  model::Architecture a = load("gemma-4-26b-a4b");
  a.attention.kv_heads = 3;
  a.attention.heads = 48;
  const auto problem = layout_problem(a, Format::BFloat16, 1, {true, true});
  REQUIRE(problem);
  CHECK(problem->find("layers of 8192 and of 6144 bytes per token cannot share pages") == 0);
  CHECK_FALSE(layout_problem(a, Format::BFloat16, 1, {}));
}

TEST_CASE("an engine without groups keeps states in a pool of their own") {
  const model::Architecture a = load("nemotron-3-ultra-550b-a55b");
  const KvLayout l = kv_layout(a, Format::BFloat16, 8, 1, {false, true});
  CHECK(l.groups() == 1);
  CHECK(l.fixed_blocks == 0);
  CHECK(l.block_bytes == 12288 / 2);  // two KV heads over eight ranks: one each
  CHECK(l.pooled_state_bytes == 407961600 / 8);
}

TEST_CASE("an encoder's keys and values are fixed blocks of a request") {
  const model::Architecture a = load("llama-3.2-11b-vision");
  const KvLayout l = kv_layout(a, Format::BFloat16, 1, 16, {true, true});
  // 32 layers attend to text, 8 to the image: groups of 8
  CHECK(l.full_groups == 4);
  CHECK(l.encoder_groups == 1);
  CHECK(l.fixed_blocks == 401);  // 6,404 tokens
  const KvLayout older = kv_layout(a, Format::BFloat16, 1, 16, {});
  CHECK(older.block_bytes == 16 * 163840);  // a log of vLLM 0.7: 6,001 blocks in 14.65 GiB
  CHECK(static_cast<std::int64_t>(14.65 * core::GiB / older.block_bytes) == 6000);
  CHECK(older.fixed_blocks == 401);
}

TEST_CASE("ranks of decode context parallelism interleave tokens: a block holds as many more, a rank as many fewer") {
  KvRules rules;
  rules.decode_context = 4;
  const KvLayout l = kv_layout(load("llama-3.1-8b"), Format::BFloat16, 32, 16, rules);
  CHECK(l.block_size == 64);
  CHECK(l.block_bytes == 16 * 131072 / 8);  // of 8 KV heads one
  CHECK(l.bytes_per_token == 131072 / 8 / 4);
  CHECK(blocks_held(l, 65) == 2);
}

TEST_CASE("rows of a latent cache are padded to whole multiples") {
  KvRules rules;
  rules.row_multiple = 256;
  // 576 elements of 2 bytes take the room of 640
  CHECK(kv_layout(load("deepseek-v3"), Format::BFloat16, 8, 16, rules).bytes_per_token == 61 * 1280);
  CHECK(kv_layout(load("deepseek-v3"), Format::Fp8, 8, 16, rules).bytes_per_token == 61 * 768);
  CHECK(kv_layout(load("llama-3.1-8b"), Format::BFloat16, 1, 16, rules).bytes_per_token == 131072);
}

TEST_CASE("some layers of GLM-5.2 have no indexer to cache keys for") {
  const KvLayout l = kv_layout(load("glm-5.2"), Format::Fp8, 8, 64, {});
  CHECK(l.bytes_per_token == 78 * model::sparse_mla_fp8_bytes + 21 * 132);
}
