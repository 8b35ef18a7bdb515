#include "model/kv_bytes.hpp"

#include "catch.hpp"

using namespace servecast::model;
using servecast::precision::Format;

namespace {

Architecture gqa(std::int32_t layers, std::int32_t heads, std::int32_t kv_heads, std::int32_t width) {
  Architecture m;
  m.layers = layers;
  m.attention.heads = heads;
  m.attention.kv_heads = kv_heads;
  m.attention.head_dim = width;
  return m;
}

Architecture deepseek() {
  Architecture m;
  m.layers = 61;
  m.attention.kind = AttentionKind::Mla;
  m.attention.heads = 128;
  m.attention.kv_heads = 128;
  m.attention.kv_lora_rank = 512;
  m.attention.qk_rope_dim = 64;
  return m;
}

}  // namespace

TEST_CASE("KV bytes per token over all layers at one rank") {
  struct Row {
    Architecture model;
    std::int64_t bf16, fp8, nvfp4;
  };
  const Row rows[] = {{gqa(32, 32, 8, 128), 131072, 65536, 36864},
                      {gqa(80, 64, 8, 128), 327680, 163840, 92160},
                      {gqa(126, 128, 8, 128), 516096, 258048, 145152},
                      {gqa(94, 64, 4, 128), 192512, 96256, 54144}};
  for (const Row& row : rows) {
    CHECK(kv_bytes(row.model, Format::BFloat16, 1).per_token == row.bf16);
    CHECK(kv_bytes(row.model, Format::Fp8, 1).per_token == row.fp8);
    CHECK(kv_bytes(row.model, Format::Nvfp4, 1).per_token == row.nvfp4);
  }
  CHECK(kv_bytes(deepseek(), Format::BFloat16, 1).per_token == 70272);
  CHECK(kv_bytes(deepseek(), Format::Fp8, 1).per_token == 35136);
}

TEST_CASE("tensor parallelism divides KV heads until each rank has one, then replicates them") {
  const Architecture m = gqa(80, 64, 8, 128);
  CHECK(kv_bytes(m, Format::BFloat16, 4).per_token == 327680 / 4);
  CHECK(kv_bytes(m, Format::BFloat16, 8).per_token == 327680 / 8);
  CHECK(kv_bytes(m, Format::BFloat16, 16).per_token == 327680 / 8);
  CHECK(kv_layer_bytes(m.attention, Format::BFloat16, 8) == 2 * 128 * 2);
}

TEST_CASE("the latent of MLA is replicated on every rank") {
  CHECK(kv_bytes(deepseek(), Format::BFloat16, 8).per_token == 70272);
  CHECK(kv_layer_bytes(deepseek().attention, Format::BFloat16, 8) == 576 * 2);
}

TEST_CASE("layers with a window cost nothing beyond it") {
  Architecture m = gqa(36, 64, 8, 64);
  m.attention.window = 128;
  m.attention.windowed_layers = 18;
  const KvBytes bytes = kv_bytes(m, Format::BFloat16, 1);
  CHECK(bytes.per_token == 73728);
  CHECK(bytes.beyond_window == 36864);
}

TEST_CASE("an int8 cache carries one FP32 scale per head and token for keys and for values") {
  CHECK(kv_layer_bytes(gqa(1, 8, 8, 128).attention, Format::Int8, 1) == 2 * 8 * (128 + 4));
}

TEST_CASE("formats that cannot hold a cache are refused by name") {
  CHECK_FALSE(kv_format_problem(gqa(1, 8, 8, 128).attention, Format::Nvfp4));
  CHECK_FALSE(kv_format_problem(deepseek().attention, Format::Fp8));
  CHECK(kv_format_problem(deepseek().attention, Format::Nvfp4)->find("nvfp4") == 0);
  CHECK(kv_format_problem(gqa(1, 8, 8, 128).attention, Format::Mxfp4)->find("mxfp4 is no KV cache format") == 0);
}
