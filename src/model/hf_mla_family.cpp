#include "model/hf_families.hpp"

#include <fmt/core.h>

namespace servecast::model {
namespace {

void read_indexer(HfReading& r, Architecture& a) {
  if (a.family != "deepseek_v32" && a.family != "glm_moe_dsa") return;
  a.attention.indexer_heads = r.required("index_n_heads");
  a.attention.indexer_dim = r.required("index_head_dim");
  a.attention.indexer_top_k = r.required("index_topk");
  if (r.integer_or("index_topk_freq", 1) > 1) {
    r.problem("index_topk_freq", "layers that share an indexer are not supported; every layer must have its own");
  }
}

void read_experts(HfReading& r, Architecture& a) {
  const bool second = a.family == "deepseek_v2";
  Moe e;
  e.experts = r.required("n_routed_experts");
  e.top_k = r.required("num_experts_per_tok");
  e.intermediate = r.required("moe_intermediate_size");
  e.shared_experts = r.integer_or("n_shared_experts", 0);
  e.shared_intermediate = shared_width(r, e);
  a.dense_layers = r.integer_or("first_k_dense_replace", 0);
  e.layers = a.layers - a.dense_layers;
  e.router_bias = r.view.has("topk_method") ? r.view.text("topk_method") == "noaux_tc" : !second;
  const std::string scoring = r.view.has("scoring_func") ? r.view.text("scoring_func") : second ? "softmax" : "sigmoid";
  e.scoring = scoring == "sigmoid" ? Scoring::Sigmoid : Scoring::Softmax;
  if (scoring != "sigmoid" && scoring != "softmax") {
    r.problem("scoring_func", fmt::format("\"{}\" is not supported; softmax and sigmoid are", scoring));
  }
  e.groups = r.integer_or("n_group", 1);
  e.top_groups = r.integer_or("topk_group", 1);
  e.routed_scaling = r.view.number("routed_scaling_factor").value_or(1.0);
  if (r.integer_or("moe_layer_freq", 1) != 1) r.problem("moe_layer_freq", "only 1 is supported");
  a.moe = e;
}

}  // namespace

// DeepSeek-V2 and its descendants: multi-head latent attention, dense first blocks, shared and routed experts.
void read_deepseek(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  Attention& t = a.attention;
  t.kind = AttentionKind::Mla;
  t.kv_heads = r.integer_or("num_key_value_heads", t.heads);
  t.q_lora_rank = r.integer_or("q_lora_rank", 0);
  t.kv_lora_rank = r.required("kv_lora_rank");
  t.qk_nope_dim = r.required("qk_nope_head_dim");
  t.qk_rope_dim = r.required("qk_rope_head_dim");
  t.v_dim = r.required("v_head_dim");
  if (r.view.flag("attention_bias")) r.problem("attention_bias", "biases with latent attention are not supported");
  a.intermediate = r.required("intermediate_size");
  read_indexer(r, a);
  read_experts(r, a);
  a.mtp_layers = r.integer_or("num_nextn_predict_layers", 0);
}

}  // namespace servecast::model
