#include "model/hf_families.hpp"

#include "config/pointer.hpp"
#include "core/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace servecast::model {
namespace {

constexpr double largest_count = 1 << 30;

void read_mlp(HfReading& r, Architecture& a) {
  a.dense_layers = a.layers;
  a.intermediate = r.required("intermediate_size");
}

// A window on every layer, as Mistral has it. Windows as long as the context are none.
void read_full_window(HfReading& r, Architecture& a) {
  const std::int32_t window = r.integer_or("sliding_window", 0);
  if (window == 0 || window >= a.max_position) return;
  a.attention.window = window;
  a.attention.windowed_layers = a.layers;
}

void read_llama(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  read_mlp(r, a);
  a.mlp_bias = r.view.flag("mlp_bias");
}

void read_mistral(HfReading& r, Architecture& a) {
  read_llama(r, a);
  read_full_window(r, a);
}

// Qwen2 uses windows only above max_window_layers, and only when told to.
void read_qwen_window(HfReading& r, Architecture& a) {
  if (read_layer_types(r, a, "sliding_attention") || !r.view.flag("use_sliding_window")) return;
  a.attention.windowed_layers = std::max(0, a.layers - r.integer_or("max_window_layers", a.layers));
  if (a.attention.windowed_layers > 0) a.attention.window = r.required("sliding_window");
}

void read_qwen2(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  read_mlp(r, a);
  a.attention.qkv_bias = true;
  a.attention.output_bias = false;
  read_qwen_window(r, a);
  a.mtp_layers = r.integer_or("num_nextn_predict_layers", 0);
}

void read_qwen3(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  read_mlp(r, a);
  a.attention.qk_norm = true;
  read_qwen_window(r, a);
}

void read_gemma(HfReading& r, Architecture& a) {
  read_common(r, a, true);
  read_gqa(r, a);
  read_mlp(r, a);
}

// Gemma 2 and 3 normalise before and after both halves of a block.
void read_gemma_hybrid(HfReading& r, Architecture& a, std::int32_t pattern) {
  read_gemma(r, a);
  a.norms_per_layer = 4;
  if (r.view.has("attn_logit_softcapping") || r.view.has("final_logit_softcapping")) {
    r.note("soft-capping of logits has no parameters and its cost is not modelled");
  }
  if (read_layer_types(r, a, "sliding_attention")) return;
  a.attention.window = r.required("sliding_window");
  a.attention.windowed_layers = a.layers - a.layers / std::max(1, r.integer_or("sliding_window_pattern", pattern));
}

void read_gemma2(HfReading& r, Architecture& a) { read_gemma_hybrid(r, a, 2); }

void read_gemma3(HfReading& r, Architecture& a) {
  read_gemma_hybrid(r, a, 6);
  a.attention.qk_norm = true;
}

void read_opt(HfReading& r, Architecture& a) {
  read_common(r, a, true);
  read_gqa(r, a);
  const bool bias = r.view.flag("enable_bias", true);
  a.dense_layers = a.layers;
  a.intermediate = r.required("ffn_dim");
  a.gated_mlp = false;
  a.mlp_bias = bias;
  a.layer_norm_bias = true;
  a.attention.qkv_bias = bias;
  a.attention.output_bias = bias;
  a.learned_positions = a.max_position + 2;  // two rows precede the first position
  if (!r.view.flag("do_layer_norm_before", true)) {
    r.problem("do_layer_norm_before", "post-norm OPT (350M) is not supported; it has no final norm");
  }
  if (r.integer_or("word_embed_proj_dim", a.hidden) != a.hidden) {
    r.problem("word_embed_proj_dim", "a projected embedding is not supported");
  }
}

constexpr HfFamily family_table[] = {{"deepseek_v2", &read_deepseek},
                                     {"deepseek_v3", &read_deepseek},
                                     {"deepseek_v32", &read_deepseek},
                                     {"gemma", &read_gemma},
                                     {"gemma2", &read_gemma2},
                                     {"gemma3_text", &read_gemma3},
                                     {"gemma4_text", &read_gemma4},
                                     {"glm4_moe", &read_glm4_moe},
                                     {"glm_moe_dsa", &read_deepseek},
                                     {"gpt_oss", &read_gpt_oss},
                                     {"kimi_k2", &read_deepseek},
                                     {"kimi_linear", &read_kimi_linear},
                                     {"llama", &read_llama},
                                     {"llama4_text", &read_llama4},
                                     {"mimo", &read_qwen2},
                                     {"mimo_v2_flash", &read_mimo_v2},
                                     {"minimax_m2", &read_minimax_m2},
                                     {"mistral", &read_mistral},
                                     {"mixtral", &read_mixtral},
                                     {"mllama_text_model", &read_mllama},
                                     {"nemotron-nas", &read_nemotron_nas},
                                     {"nemotron_h", &read_nemotron_h},
                                     {"opt", &read_opt},
                                     {"phi3", &read_mistral},
                                     {"qwen2", &read_qwen2},
                                     {"qwen2_moe", &read_qwen_moe},
                                     {"qwen3", &read_qwen3},
                                     {"qwen3_5_moe_text", &read_qwen3_5},
                                     {"qwen3_5_text", &read_qwen3_5},
                                     {"qwen3_moe", &read_qwen_moe},
                                     {"qwen3_next", &read_qwen3_5},
                                     {"qwen3_vl_moe_text", &read_qwen_moe},
                                     {"qwen3_vl_text", &read_qwen3}};

constexpr HfRefusal refusal_table[] = {
    {"deepseek_ref", "its attention compresses the context and its residual has several streams"},
    {"deepseek_v4", "its attention compresses the context and its residual has several streams"},
    {"minimax_m3", "its attention selects blocks of the context, and what its indexer caches is not stated"},
    {"minimax_m3_vl", "its attention selects blocks of the context, and what its indexer caches is not stated"},
    {"step3p7", "its configuration does not state all that its parameter count follows from"}};

}  // namespace

void HfReading::problem(std::string_view key, std::string message) {
  problems.add(fmt::format("{}:{}", place, config::child(pointer, key)), "{}", message);
}

std::optional<std::int32_t> HfReading::integer(std::string_view key) {
  const std::optional<double> value = view.number(key);
  if (!value) {
    if (view.has(key)) problem(key, "is no number");
    return std::nullopt;
  }
  if (*value < 0 || *value > largest_count || *value != std::floor(*value)) {
    problem(key, fmt::format("{} is no integer in [0, {}]", *value, largest_count));
    return std::nullopt;
  }
  return static_cast<std::int32_t>(*value);
}

std::int32_t HfReading::required(std::string_view key) {
  if (!view.has(key)) problem(key, "absent; this family needs it");
  return integer(key).value_or(0);
}

std::int32_t HfReading::integer_or(std::string_view key, std::int32_t otherwise) {
  return integer(key).value_or(otherwise);
}

void read_common(HfReading& r, Architecture& a, bool tied_by_default) {
  a.layers = r.required("num_hidden_layers");
  a.hidden = r.required("hidden_size");
  a.vocab = r.required("vocab_size");
  a.attention.heads = r.required("num_attention_heads");
  a.max_position = r.required("max_position_embeddings");
  a.tied_embeddings = r.view.flag("tie_word_embeddings", tied_by_default);
}

void read_gqa(HfReading& r, Architecture& a) {
  Attention& t = a.attention;
  t.kv_heads = r.integer_or("num_key_value_heads", t.heads);
  const std::optional<std::int32_t> width = r.integer("head_dim");
  if (width) {
    t.head_dim = *width;
  } else if (t.heads > 0 && a.hidden % t.heads == 0) {
    t.head_dim = a.hidden / t.heads;
  } else if (t.heads > 0 && a.hidden > 0) {
    r.problem("head_dim",
              fmt::format("absent, and the number of heads ({}) does not divide hidden_size {}", t.heads, a.hidden));
  }
  t.qkv_bias = r.view.flag("attention_bias");
  t.output_bias = t.qkv_bias;
}

bool read_layer_types(HfReading& r, Architecture& a, std::string_view windowed_type) {
  const std::vector<std::string>& types = r.view.texts_of("layer_types");
  if (types.empty()) return false;
  if (static_cast<std::int32_t>(types.size()) != a.layers) {
    r.problem("layer_types", fmt::format("its length is {}, but there are {} layers", types.size(), a.layers));
  }
  for (const std::string& type : types) {
    if (type != windowed_type && type != "full_attention") {
      r.problem("layer_types",
                fmt::format("\"{}\" layers are not supported; \"full_attention\" and \"{}\" are", type, windowed_type));
      return true;
    }
  }
  a.attention.windowed_layers = static_cast<std::int32_t>(std::count(types.begin(), types.end(), windowed_type));
  if (a.attention.windowed_layers > 0) a.attention.window = r.required("sliding_window");
  return true;
}

std::span<const HfFamily> hf_families() { return family_table; }
std::span<const HfRefusal> hf_refusals() { return refusal_table; }

}  // namespace servecast::model
