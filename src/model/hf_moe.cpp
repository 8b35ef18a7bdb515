#include "core/units.hpp"
#include "model/hf_families.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace servecast::model {
Moe read_routed(HfReading& r, const Architecture& a, const RoutedKeys& keys) {
  Moe e;
  e.experts = r.required(keys.experts);
  e.top_k = r.required(keys.top_k);
  e.intermediate = r.required(keys.width);
  e.layers = a.layers;
  return e;
}

Scoring read_scoring(HfReading& r, std::string_view key, std::string_view otherwise) {
  const std::string scoring = r.view.has(key) ? r.view.text(key) : std::string(otherwise);
  if (scoring != "sigmoid" && scoring != "softmax")
    r.problem(key, fmt::format("\"{}\" is not supported; softmax and sigmoid are", scoring));
  return scoring == "sigmoid" ? Scoring::Sigmoid : Scoring::Softmax;
}

std::int32_t shared_width(HfReading& r, const Moe& e) {
  const std::int64_t width = std::int64_t{e.shared_experts} * e.intermediate;
  if (width <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(width);
  r.problem("n_shared_experts", fmt::format("{} of width {} are too wide together",
                                            core::counted(e.shared_experts, "shared expert"), e.intermediate));
  return 0;
}

void read_mixtral(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  a.moe = read_routed(r, a, {.experts = "num_local_experts", .width = "intermediate_size"});
  if (const std::int32_t window = r.integer_or("sliding_window", 0); window > 0 && window < a.max_position) {
    a.attention.window = window;
    a.attention.windowed_layers = a.layers;
  }
}

void read_qwen_moe(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  Moe e = read_routed(r, a, {.experts = "num_experts"});
  if (a.family == "qwen2_moe") {
    a.attention.qkv_bias = true;
    a.attention.output_bias = false;
    e.shared_experts = 1;
    e.shared_intermediate = r.required("shared_expert_intermediate_size");
    e.shared_gate = true;
  } else {
    a.attention.qk_norm = true;
  }
  if (r.integer_or("decoder_sparse_step", 1) != 1) r.problem("decoder_sparse_step", "only 1 is supported");
  if (!r.view.numbers_of("mlp_only_layers").empty())
    r.problem("mlp_only_layers", "dense blocks among MoE ones are not supported");
  if (r.view.flag("use_sliding_window")) r.problem("use_sliding_window", "windows in this family are not supported");
  a.moe = e;
}

void read_gpt_oss(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  Moe e = read_routed(r, a, {.experts = "num_local_experts", .width = "intermediate_size"});
  e.router_bias = true;
  e.expert_bias = true;
  a.moe = e;
  a.attention.sinks = true;
  if (!read_layer_types(r, a, "sliding_attention")) {
    a.attention.window = r.required("sliding_window");
    a.attention.windowed_layers = (a.layers + 1) / 2;
    r.note(
        "layer_types is absent; every other layer was assumed to use the window, as in the family's published models");
  }
}

void read_glm4_moe(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  a.attention.output_bias = false;
  a.attention.qk_norm = r.view.flag("use_qk_norm");
  a.intermediate = r.required("intermediate_size");
  a.dense_layers = r.integer_or("first_k_dense_replace", 0);
  Moe e = read_routed(r, a, {.experts = "n_routed_experts"});
  e.layers = a.layers - a.dense_layers;
  e.shared_experts = r.integer_or("n_shared_experts", 0);
  e.shared_intermediate = shared_width(r, e);
  e.router_bias = true;
  e.scoring = Scoring::Sigmoid;
  e.groups = r.integer_or("n_group", 1);
  e.top_groups = r.integer_or("topk_group", 1);
  e.routed_scaling = r.view.number("routed_scaling_factor").value_or(1.0);
  a.moe = e;
  a.mtp_layers = r.integer_or("num_nextn_predict_layers", 0);
}

// Llama 4: every fourth block attends globally without rotary positions, the others within chunks; a shared expert
// beside one routed expert; in Maverick dense and MoE blocks alternate.
void read_llama4(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  Moe e = read_routed(r, a, {.experts = "num_local_experts", .width = "intermediate_size"});
  e.shared_experts = 1;
  e.shared_intermediate = e.intermediate;
  e.scoring = Scoring::Sigmoid;
  const std::int32_t step = r.integer_or("interleave_moe_layer_step", 1);
  if (step != 1 && step != 2)
    r.problem("interleave_moe_layer_step", fmt::format("{} is not supported; 1 and 2 are", step));
  if (step == 2) {
    a.moe_interleaved = true;
    a.dense_layers = a.layers - a.layers / 2;
    a.intermediate = r.required("intermediate_size_mlp");
    e.layers = a.layers / 2;
  }
  a.moe = e;
  a.attention.window = r.integer_or("attention_chunk_size", 0);
  a.attention.window_is_chunk = a.attention.window > 0;
  const std::vector<double>& rotary =
      r.view.numbers_of("no_rope_layers");  // 1 = rotary and chunked, in spite of the name
  const auto global = rotary.empty() ? a.layers / std::max(1, r.integer_or("no_rope_layer_interval", 4))
                                     : static_cast<std::int32_t>(std::count(rotary.begin(), rotary.end(), 0.0));
  if (a.attention.window > 0) a.attention.windowed_layers = a.layers - global;
}

void read_minimax_m2(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  Moe e = read_routed(r, a, {.experts = "num_local_experts", .width = "intermediate_size"});
  e.router_bias = r.view.flag("use_routing_bias");
  e.scoring = r.view.text("scoring_func") == "softmax" ? Scoring::Softmax : Scoring::Sigmoid;
  e.shared_intermediate = r.integer_or("shared_intermediate_size", 0);
  e.shared_experts = e.shared_intermediate > 0 ? 1 : 0;
  a.moe = e;
  if (r.view.flag("use_qk_norm")) {
    const bool per_layer = r.view.text("qk_norm_type") == "per_layer";
    a.attention.qk_norm_all_heads = per_layer;
    a.attention.qk_norm = !per_layer;
  }
  if (r.view.flag("use_mtp"))
    a.mtp_layers = r.integer_or("num_mtp_modules", 0) * std::min(16, r.integer_or("mtp_transformer_layers", 1));
}

}  // namespace servecast::model
