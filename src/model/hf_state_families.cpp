// Families most of whose blocks keep a recurrent state.
#include "model/hf_block_writer.hpp"
#include "model/hf_families.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

// Tokens that the chunked kernels of the gated delta rule take at a time. Specified: flash-linear-attention.
constexpr std::int32_t delta_chunk = 64;

precision::Format read_state_format(HfReading& r, std::string_view key) {
  const std::string format = r.view.text(key);
  if (format == "float32") return precision::Format::Float32;
  if (format == "float16") return precision::Format::Float16;
  if (!format.empty() && format != "bfloat16") r.problem(key, fmt::format("\"{}\" is no format of a state", format));
  if (format.empty()) r.note(fmt::format("{} is absent; recurrent states were taken to be in bf16", key));
  return precision::Format::BFloat16;
}

void read_delta_state(HfReading& r, Architecture& a) {
  StateMixer s;
  s.kind = StateKind::GatedDelta;
  s.heads = r.required("linear_num_value_heads");
  s.head_dim = r.required("linear_value_head_dim");
  s.groups = r.required("linear_num_key_heads");
  s.state_dim = r.required("linear_key_head_dim");
  s.conv_kernel = r.required("linear_conv_kernel_dim");
  s.chunk = delta_chunk;
  s.format = read_state_format(r, "mamba_ssm_dtype");
  a.state = s;
}

// Which blocks attend: a list of types, or every n-th.
std::vector<std::string> layer_types(HfReading& r, const Architecture& a) {
  std::vector<std::string> types = r.view.texts_of("layer_types");
  if (!types.empty()) return types;
  const std::int32_t interval = std::max(1, r.required("full_attention_interval"));
  for (std::int32_t i = 1; i <= a.layers; ++i)
    types.emplace_back(i % interval == 0 ? "full_attention" : "linear_attention");
  return types;
}

void read_qwen_experts(HfReading& r, Architecture& a) {
  Moe e = read_routed(r, a, {.experts = "num_experts"});
  e.shared_intermediate = r.required("shared_expert_intermediate_size");
  e.shared_experts = e.shared_intermediate > 0 ? 1 : 0;
  e.shared_gate = e.shared_experts > 0;
  if (r.integer_or("decoder_sparse_step", 1) != 1) r.problem("decoder_sparse_step", "only 1 is supported");
  if (!r.view.numbers_of("mlp_only_layers").empty())
    r.problem("mlp_only_layers", "dense blocks among MoE ones are not supported");
  a.moe = e;
}

void read_nemotron_state(HfReading& r, Architecture& a) {
  StateMixer s;
  s.kind = StateKind::Mamba2;
  s.heads = r.required("mamba_num_heads");
  s.head_dim = r.required("mamba_head_dim");
  s.groups = r.required("n_groups");
  s.state_dim = r.required("ssm_state_size");
  s.conv_kernel = r.required("conv_kernel");
  s.conv_bias = r.view.flag("use_conv_bias");
  s.projection_bias = r.view.flag("mamba_proj_bias") || r.view.flag("use_bias");
  s.chunk = r.integer_or("chunk_size", s.chunk);
  s.format = read_state_format(r, "mamba_ssm_cache_dtype");
  a.state = s;
}

void read_nemotron_experts(HfReading& r, Architecture& a, std::int32_t layers) {
  Moe e = read_routed(r, a, {.experts = "n_routed_experts"});
  e.layers = layers;
  e.latent = r.integer_or("moe_latent_size", 0);
  e.shared_experts = r.integer_or("n_shared_experts", 0);
  Moe shared = e;
  shared.intermediate = e.shared_experts > 0 ? r.required("moe_shared_expert_intermediate_size") : 0;
  e.shared_intermediate = shared_width(r, shared);
  e.router_bias = true;
  e.scoring = Scoring::Sigmoid;
  e.groups = r.integer_or("n_group", 1);
  e.top_groups = r.integer_or("topk_group", 1);
  e.routed_scaling = r.view.number("routed_scaling_factor").value_or(1.0);
  a.moe = e;
}

// One half a block: a mixer or a feed forward.
std::optional<BlockKind> nemotron_kind(std::string_view type) {
  BlockKind k;
  k.letter = type.size() == 1 ? type : "";
  k.feed_forward = FeedForward::None;
  if (type == "M" || type == "mamba") return k.letter = "M", k.mixer = Mixer::State, k;
  if (type == "*" || type == "attention") return k.letter = "*", k.mixer = Mixer::Attention, k;
  k.mixer = Mixer::None;
  if (type == "E" || type == "moe") return k.letter = "E", k.feed_forward = FeedForward::Experts, k;
  if (type == "-" || type == "mlp") return k.letter = "-", k.feed_forward = FeedForward::Dense, k;
  return std::nullopt;
}

BlockWriter nemotron_blocks(HfReading& r) {
  std::vector<std::string> types = r.view.texts_of("layers_block_type");
  const bool listed = !types.empty();
  if (!listed)
    for (const char letter : r.view.text("hybrid_override_pattern")) types.emplace_back(1, letter);
  const std::string_view key = listed ? "layers_block_type" : "hybrid_override_pattern";
  if (types.empty()) r.problem(key, "absent; this family needs it");
  BlockWriter blocks;
  for (const std::string& type : types) {
    const auto kind = nemotron_kind(type);
    if (!kind) {
      r.problem(key, fmt::format("\"{}\" blocks are not supported; mamba, attention, moe and mlp are", type));
      break;
    }
    blocks.add(*kind);
  }
  return blocks;
}

void read_kimi_attention(HfReading& r, Architecture& a) {
  Attention& t = a.attention;
  t.kind = AttentionKind::Mla;
  t.kv_heads = r.integer_or("num_key_value_heads", t.heads);
  t.q_lora_rank = r.integer_or("q_lora_rank", 0);
  t.kv_lora_rank = r.required("kv_lora_rank");
  t.qk_nope_dim = r.required("qk_nope_head_dim");
  t.qk_rope_dim = r.required("qk_rope_head_dim");
  t.v_dim = r.required("v_head_dim");
  t.output_gate = r.view.flag("mla_use_output_gate");
}

void read_kimi_state(HfReading& r, const HfView& linear, Architecture& a) {
  HfReading inner{linear, r.place, r.pointer + "/linear_attn_config", r.problems, r.notes, r.outer};
  StateMixer s;
  s.kind = StateKind::KimiDelta;
  s.heads = inner.required("num_heads");
  s.head_dim = inner.required("head_dim");
  s.groups = s.heads;
  s.state_dim = s.head_dim;
  s.conv_kernel = inner.required("short_conv_kernel_size");
  s.gate_rank = linear.flag("use_full_rank_gate") ? 0 : s.head_dim;
  s.chunk = delta_chunk;
  a.state = s;  // kept in fp32 by the engines that serve it
}

void read_kimi_experts(HfReading& r, Architecture& a) {
  Moe e = read_routed(r, a, {.experts = "num_experts", .top_k = "num_experts_per_token"});
  e.layers = a.layers - a.dense_layers;
  e.latent = r.integer_or("routed_expert_hidden_size", 0);
  e.shared_experts = r.integer_or("num_shared_experts", 0);
  e.shared_intermediate = shared_width(r, e);
  e.router_bias = true;
  e.scoring = read_scoring(r, "moe_router_activation_func", "sigmoid");
  e.groups = r.integer_or("num_expert_group", 1);
  e.top_groups = r.integer_or("topk_group", 1);
  e.routed_scaling = r.view.number("routed_scaling_factor").value_or(1.0);
  if (r.integer_or("moe_layer_freq", 1) != 1) r.problem("moe_layer_freq", "only 1 is supported");
  a.moe = e;
}

void read_kimi_blocks(HfReading& r, const HfView& linear, Architecture& a) {
  const std::vector<double>& full = linear.numbers_of("full_attn_layers");
  const std::vector<double>& delta = linear.numbers_of("kda_layers");
  const auto in = [](const std::vector<double>& list, std::int32_t layer) {
    return std::find(list.begin(), list.end(), layer) != list.end();
  };
  BlockWriter blocks;
  for (std::int32_t layer = 1; layer <= a.layers; ++layer) {  // the lists count from 1
    if (in(full, layer) == in(delta, layer)) {
      r.problem("linear_attn_config", fmt::format("layer {} is in both lists of layers or in none", layer));
      return;
    }
    const bool dense = layer <= a.dense_layers;
    BlockKind k;
    k.mixer = in(full, layer) ? Mixer::Attention : Mixer::State;
    k.feed_forward = dense ? FeedForward::Dense : FeedForward::Experts;
    k.letter = k.mixer == Mixer::Attention ? (dense ? "A" : "a") : (dense ? "K" : "k");
    blocks.add(k);
  }
  a.blocks = blocks.order();
}

}  // namespace

// Qwen3-Next and Qwen3.5: three blocks with the gated delta rule to one that attends, its output gated.
void read_qwen3_5(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  a.attention.qk_norm = true;
  a.attention.output_gate = r.view.flag("attn_output_gate", true);
  read_delta_state(r, a);
  const bool moe = r.view.has("num_experts");
  if (moe)
    read_qwen_experts(r, a);
  else
    a.dense_layers = a.layers, a.intermediate = r.required("intermediate_size");
  BlockWriter blocks;
  for (const std::string& type : layer_types(r, a)) {
    BlockKind k;
    k.feed_forward = moe ? FeedForward::Experts : FeedForward::Dense;
    k.mixer = type == "linear_attention" ? Mixer::State : Mixer::Attention;
    k.letter = type == "linear_attention" ? "d" : "a";
    if (type != "linear_attention" && type != "full_attention")
      r.problem("layer_types", fmt::format("\"{}\" layers are not supported in this family", type));
    blocks.add(k);
  }
  a.blocks = blocks.order();
  a.mtp_layers = r.integer_or("mtp_num_hidden_layers", 0);
}

// Nemotron-H and Nemotron 3: blocks of one half each, Mamba-2, attention, MLP or experts; squared ReLU without a gate.
void read_nemotron_h(HfReading& r, Architecture& a) {
  const BlockWriter blocks = nemotron_blocks(r);
  a.blocks = blocks.order();
  a.layers = static_cast<std::int32_t>(blocks.order().order.size());
  if (r.integer_or("num_hidden_layers", a.layers) != a.layers)
    r.problem("num_hidden_layers", fmt::format("differs from the {} blocks of the pattern", a.layers));
  a.hidden = r.required("hidden_size");
  a.vocab = r.required("vocab_size");
  a.attention.heads = r.required("num_attention_heads");
  a.max_position = r.required("max_position_embeddings");
  a.tied_embeddings = r.view.flag("tie_word_embeddings");
  read_gqa(r, a);
  if (const auto width = r.integer("attention_head_dim")) a.attention.head_dim = *width;
  if (r.view.text("mlp_hidden_act") != "relu2")
    r.problem("mlp_hidden_act", "only relu2 is supported; it says that MLPs have two matrices");
  a.gated_mlp = false;
  a.mlp_bias = r.view.flag("mlp_bias");
  read_nemotron_state(r, a);
  a.dense_layers = blocks.count(FeedForward::Dense);
  if (a.dense_layers > 0) a.intermediate = r.required("intermediate_size");
  if (const std::int32_t n = blocks.count(FeedForward::Experts); n > 0) read_nemotron_experts(r, a, n);
  a.mtp_layers = r.integer_or("num_nextn_predict_layers", 0);
}

// Kimi Linear and Kimi K3: three blocks with Kimi delta attention to one with latent attention.
void read_kimi_linear(HfReading& r, Architecture& a) {
  a.layers = r.required("num_hidden_layers");
  a.hidden = r.required("hidden_size");
  a.vocab = r.required("vocab_size");
  a.attention.heads = r.required("num_attention_heads");
  a.max_position =
      r.view.has("model_max_length") ? r.required("model_max_length") : r.required("max_position_embeddings");
  a.tied_embeddings = r.view.flag("tie_word_embeddings");
  read_kimi_attention(r, a);
  a.dense_layers = r.integer_or("first_k_dense_replace", 0);
  a.intermediate = r.required("intermediate_size");
  read_kimi_experts(r, a);
  const HfView* linear = r.view.object("linear_attn_config");
  if (!linear) return r.problem("linear_attn_config", "absent; this family needs it");
  read_kimi_state(r, *linear, a);
  read_kimi_blocks(r, *linear, a);
  a.mtp_layers = r.integer_or("num_nextn_predict_layers", 0);
  if (r.view.has("attn_res_block_size"))
    r.note(
        "attn_res_block_size: residuals that attend to earlier blocks are left out; they have few parameters, and "
        "their time is not modelled");
}

}  // namespace servecast::model
