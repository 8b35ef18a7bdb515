// Architectures and GPUs written out by hand, so that cost tests depend on no profile file.
#pragma once

#include "cost/roofline.hpp"

namespace servecast::cost::samples {

inline model::Architecture llama_70b() {
  model::Architecture a;
  a.name = "llama-70b";
  a.layers = 80;
  a.hidden = 8192;
  a.vocab = 128256;
  a.dense_layers = 80;
  a.intermediate = 28672;
  a.attention.heads = 64;
  a.attention.kv_heads = 8;
  a.attention.head_dim = 128;
  return a;
}

inline model::Architecture llama_8b() {
  model::Architecture a = llama_70b();
  a.name = "llama-8b";
  a.layers = a.dense_layers = 32;
  a.hidden = 4096;
  a.intermediate = 14336;
  a.attention.heads = 32;
  return a;
}

// 36 layers, every other one windowed, 128 experts of which 4 are used.
inline model::Architecture gpt_oss_120b() {
  model::Architecture a;
  a.name = "gpt-oss-120b";
  a.layers = 36;
  a.hidden = 2880;
  a.vocab = 201088;
  a.attention.heads = 64;
  a.attention.kv_heads = 8;
  a.attention.head_dim = 64;
  a.attention.window = 128;
  a.attention.windowed_layers = 18;
  a.moe = model::Moe{};
  a.moe->experts = 128;
  a.moe->top_k = 4;
  a.moe->intermediate = 2880;
  a.moe->layers = 36;
  return a;
}

inline model::Architecture deepseek_v3(bool sparse = false) {
  model::Architecture a;
  a.name = "deepseek-v3";
  a.layers = 61;
  a.hidden = 7168;
  a.vocab = 129280;
  a.dense_layers = 3;
  a.intermediate = 18432;
  a.attention.kind = model::AttentionKind::Mla;
  a.attention.heads = 128;
  a.attention.q_lora_rank = 1536;
  a.attention.kv_lora_rank = 512;
  a.attention.qk_nope_dim = 128;
  a.attention.qk_rope_dim = 64;
  a.attention.v_dim = 128;
  if (sparse) {
    a.attention.indexer_heads = 64;
    a.attention.indexer_dim = 128;
    a.attention.indexer_top_k = 2048;
  }
  a.moe = model::Moe{};
  a.moe->experts = 256;
  a.moe->top_k = 8;
  a.moe->intermediate = 2048;
  a.moe->shared_experts = 1;
  a.moe->shared_intermediate = 2048;
  a.moe->layers = 58;
  return a;
}

inline hardware::Gpu b200() {
  hardware::Gpu g;
  g.name = "b200";
  g.sm_count = 148;
  g.memory_gib = 178.35;
  g.memory_tb_s = 7.672;
  g.dense = {2250, 4500, 9000, 4500};
  g.scale_up_gb_s = 900;
  return g;
}

inline hardware::Gpu h100() {
  hardware::Gpu g;
  g.name = "h100";
  g.sm_count = 132;
  g.memory_gib = 79.2;
  g.memory_tb_s = 3.35;
  g.dense = {989, 1979, 0, 1979};
  g.scale_up_gb_s = 450;
  return g;
}

inline fabric::ScaleUp links() {
  fabric::ScaleUp f;
  f.name = "links";
  f.per_direction_gb_s = 900;
  f.ranks_2 = {4.6, 2048, 9.2, 8192, 11, 0.527};
  f.ranks_4 = {4.8, 512, 9.6, 8192, 16.4, 0.618};
  f.ranks_8 = {5, 256, 10, 8192, 27.2, 0.65};
  f.send_us = 10;
  f.send_achieved = 0.85;
  return f;
}

inline Precision all(precision::Format weights, precision::Format kv) {
  Precision p;
  p.weights.attention = p.weights.mlp = p.weights.experts = weights;
  p.activations = weights;
  p.kv_cache = kv;
  return p;
}

inline StepModelInput input(const model::Architecture& a, const hardware::Gpu& g, std::int32_t tensor = 1) {
  StepModelInput in{a, g, links(), all(precision::Format::Fp8, precision::Format::Fp8), {}};
  in.parallel.tensor = tensor;
  return in;
}

}  // namespace servecast::cost::samples
