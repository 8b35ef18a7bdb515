#include "model/hf_modules.hpp"

#include "catch.hpp"

using servecast::model::covers;

TEST_CASE("a plain name covers itself and its children") {
  CHECK(covers("model.layers.3.self_attn", "model.layers.3.self_attn.q_proj"));
  CHECK(covers("lm_head", "lm_head"));
  CHECK_FALSE(covers("model.layers.3.self_attn", "model.layers.30.self_attn.q_proj"));
}

TEST_CASE("a star stands for anything") {
  CHECK(covers("model.layers.3.self_attn*", "model.layers.3.self_attn.o_proj"));
  CHECK(covers("model.layers.*.self_attn", "model.layers.61.self_attn.o_proj"));
  CHECK(covers("*.mlp.shared_expert.*", "model.layers.1.mlp.shared_expert.up_proj"));
  CHECK_FALSE(covers("model.layers.1.*", "model.layers.11.mlp.up_proj"));
}

TEST_CASE("a bare word covers modules that have it as a part") {
  CHECK(covers("gate", "model.layers.1.block_sparse_moe.gate"));
  CHECK_FALSE(covers("gate", "model.layers.1.mlp.gate_proj"));
}

TEST_CASE("the regular expressions of compressed-tensors are understood") {
  CHECK(covers("re:.*self_attn.*", "model.layers.1.self_attn.q_proj"));
  CHECK(covers("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.up_proj"));
  CHECK_FALSE(covers("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.1.mlp.experts.0.up_proj"));
}

TEST_CASE("a multimodal wrapper's prefix does not matter") {
  CHECK(covers("language_model.model.layers.1.self_attn*", "model.layers.1.self_attn.q_proj"));
  CHECK(covers("model.language_model.layers.1.mlp.shared_experts*", "model.layers.1.mlp.shared_experts.up_proj"));
}
