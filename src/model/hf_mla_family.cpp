#include "model/hf_block_writer.hpp"
#include "model/hf_families.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

void read_indexer(HfReading& r, Architecture& a) {
  if (a.family != "deepseek_v32" && a.family != "glm_moe_dsa") return;
  a.attention.indexer_heads = r.required("index_n_heads");
  a.attention.indexer_dim = r.required("index_head_dim");
  a.attention.indexer_top_k = r.required("index_topk");
  if (r.integer_or("index_topk_freq", 1) > 1 && r.view.texts_of("indexer_types").empty()) {
    r.problem("index_topk_freq", "layers share an indexer, but indexer_types does not say which; give the list");
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
  e.scoring = read_scoring(r, "scoring_func", second ? "softmax" : "sigmoid");
  e.groups = r.integer_or("n_group", 1);
  e.top_groups = r.integer_or("topk_group", 1);
  e.routed_scaling = r.view.number("routed_scaling_factor").value_or(1.0);
  if (r.integer_or("moe_layer_freq", 1) != 1) r.problem("moe_layer_freq", "only 1 is supported");
  a.moe = e;
}

// Blocks that reuse the selection of an earlier block's indexer (GLM-5.2).
void read_shared_indexers(HfReading& r, Architecture& a) {
  const std::vector<std::string>& types = r.view.texts_of("indexer_types");
  if (std::find(types.begin(), types.end(), "shared") == types.end()) return;
  Attention shared = a.attention;
  shared.indexer_heads = 0;
  shared.indexer_dim = 0;
  BlockWriter blocks;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool dense = static_cast<std::int32_t>(i) < a.dense_layers;
    BlockKind k;
    k.feed_forward = dense ? FeedForward::Dense : FeedForward::Experts;
    if (types[i] == "shared") {
      k.attention = shared;
      k.letter = dense ? "r" : "s";
    } else if (types[i] == "full") {
      k.letter = dense ? "d" : "f";
    } else {
      r.problem("indexer_types", fmt::format("\"{}\" is not supported; \"full\" and \"shared\" are", types[i]));
      return;
    }
    blocks.add(k);
  }
  a.blocks = blocks.order();
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
  read_shared_indexers(r, a);
  a.mtp_layers = r.integer_or("num_nextn_predict_layers", 0);
}

}  // namespace servecast::model
