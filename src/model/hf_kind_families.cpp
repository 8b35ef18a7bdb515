// Families whose blocks attend differently, or not at all.
#include "model/hf_block_writer.hpp"
#include "model/hf_families.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace servecast::model {
namespace {

constexpr std::int32_t ffn_multiple = 256;  // nemotron-nas rounds MLP widths up to it
constexpr double largest_multiplier = 256;

// What of a block's description is more than attention or its absence, or an MLP or its absence.
std::string beyond(const HfView& part) {
  for (const std::string_view key : {"replace_with_linear", "unshifted_sink", "use_prefill_window_in_sink_attention"})
    if (part.flag(key)) return std::string(key);
  for (const std::string_view key : {"sparsify", "num_sink_tokens", "window_length"})
    if (part.has(key)) return std::string(key);
  return "";
}

// The published block code: two thirds of the multiple, cut to an integer, then rounded up.
std::int32_t nas_width(double multiplier, std::int32_t hidden) {
  const auto exact = static_cast<std::int64_t>(2 * multiplier * hidden / 3);
  return static_cast<std::int32_t>((exact + ffn_multiple - 1) / ffn_multiple * ffn_multiple);
}

class NasBlock {
 public:
  NasBlock(HfReading& r, Architecture& a, const HfView& block, std::size_t index)
      : r_(r), a_(a), attention_(block.object("attention")), ffn_(block.object("ffn")), index_(index) {}

  std::optional<BlockKind> read() {
    if (!attention_ || !ffn_) return problem("states no attention or no ffn");
    for (const HfView* part : {attention_, ffn_})
      if (const std::string key = beyond(*part); !key.empty()) return problem(key + " is not supported");
    BlockKind k;
    if (!read_attention(k) || !read_mlp(k)) return std::nullopt;
    return k;
  }

 private:
  std::nullopt_t problem(const std::string& what) {
    r_.problem("block_configs", fmt::format("block {} {}", index_, what));
    return std::nullopt;
  }

  bool read_attention(BlockKind& k) {
    k.mixer = Mixer::None;
    if (attention_->flag("no_op")) return true;
    const double group = attention_->number("n_heads_in_group").value_or(0);
    if (group < 1 || group > a_.attention.heads || std::fmod(a_.attention.heads, group) != 0)
      return problem("states no n_heads_in_group that divides the heads"), false;
    k.mixer = Mixer::Attention;
    const auto kv_heads = static_cast<std::int32_t>(a_.attention.heads / group);
    if (a_.attention.kv_heads == 0) a_.attention.kv_heads = kv_heads;
    if (a_.attention.kv_heads == kv_heads) return true;
    k.attention = a_.attention;
    k.attention->kv_heads = kv_heads;
    return true;
  }

  bool read_mlp(BlockKind& k) {
    k.feed_forward = FeedForward::None;
    if (ffn_->flag("no_op")) return true;
    const double multiplier = ffn_->number("ffn_mult").value_or(0);
    if (!(multiplier > 0) || multiplier > largest_multiplier) return problem("states no ffn_mult"), false;
    k.feed_forward = FeedForward::Dense;
    k.intermediate = nas_width(multiplier, a_.hidden);
    return true;
  }

  HfReading& r_;
  Architecture& a_;
  const HfView* attention_;
  const HfView* ffn_;
  std::size_t index_;
};

// Of layers that see a window, beside the model's attention of layers that see everything.
Attention windowed(HfReading& r, const Attention& full, std::string_view heads, std::string_view kv_heads,
                   std::string_view width) {
  Attention t = full;
  t.heads = r.required(heads);
  t.kv_heads = r.required(kv_heads);
  t.head_dim = r.required(width);
  t.window = r.required("sliding_window");
  return t;
}

void refuse_gemma_extras(HfReading& r) {
  for (const std::string_view key : {"hidden_size_per_layer_input", "num_kv_shared_layers"})
    if (r.integer_or(key, 0) > 0) r.problem(key, "is not supported above 0");
  if (r.view.flag("use_double_wide_mlp")) r.problem("use_double_wide_mlp", "is not supported");
}

void read_gemma_experts(HfReading& r, Architecture& a) {
  Moe e = read_routed(r, a, {.experts = "num_experts", .top_k = "top_k_experts"});
  e.shared_experts = 1;  // the dense MLP stands beside the routed experts
  e.shared_intermediate = r.required("intermediate_size");
  a.moe = e;
  a.norms_per_layer = 7;  // two more around the experts, one more after the dense MLP
  r.note("the router's scales per hidden unit and per expert are not counted");
}

Moe read_mimo_experts(HfReading& r, const Architecture& a) {
  Moe e = read_routed(r, a, {.experts = "n_routed_experts"});
  if (r.integer_or("n_shared_experts", 0) > 0) r.problem("n_shared_experts", "shared experts are not supported here");
  e.router_bias = r.view.text("topk_method") == "noaux_tc";
  e.scoring = read_scoring(r, "scoring_func", "sigmoid");
  e.groups = r.integer_or("n_group", 1);
  e.top_groups = r.integer_or("topk_group", 1);
  e.routed_scaling = r.view.number("routed_scaling_factor").value_or(1.0);
  return e;
}

// Tokens of one image at its largest: every tile a class token and its patches.
std::int32_t encoder_tokens(HfReading& r) {
  const HfView* vision = r.outer ? r.outer->object("vision_config") : nullptr;
  const double size = vision ? vision->number("image_size").value_or(0) : 0;
  const double patch = vision ? vision->number("patch_size").value_or(0) : 0;
  const double tiles = vision ? vision->number("max_num_tiles").value_or(0) : 0;
  const bool stated = size >= 1 && size <= 16384 && patch >= 1 && patch <= size && tiles >= 1 && tiles <= 1024;
  if (!stated) {
    r.problem("cross_attention_layers",
              "the vision_config beside this text model states no image_size, patch_size and "
              "max_num_tiles, which give the tokens these layers attend to");
    return 0;
  }
  const double side = std::floor(size / patch);
  return static_cast<std::int32_t>(std::floor(tiles) * (side * side + 1));
}

}  // namespace

// Llama after neural architecture search: each block states its KV heads and MLP width, or that it has none.
void read_nemotron_nas(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  if (a.attention.heads > 0) a.attention.head_dim = a.hidden / a.attention.heads;
  a.attention.qkv_bias = a.attention.output_bias = r.view.flag("attention_bias");
  a.mlp_bias = r.view.flag("mlp_bias");
  const auto& configs = r.view.objects_of("block_configs");
  if (configs.empty()) return r.problem("block_configs", "absent; this family needs it");
  BlockWriter blocks;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const auto kind = NasBlock(r, a, *configs[i], i).read();
    if (!kind) return;
    blocks.add(*kind);
  }
  a.blocks = blocks.order();
  a.dense_layers = blocks.count(FeedForward::Dense);
}

// Gemma 4: layers that see everything have wider heads, fewer of them for keys, and one projection for keys and values.
void read_gemma4(HfReading& r, Architecture& a) {
  read_common(r, a, true);
  Attention& full = a.attention;
  full.head_dim = r.required("global_head_dim");
  full.kv_heads = r.integer_or("num_global_key_value_heads", r.integer_or("num_key_value_heads", 0));
  full.values_are_keys = r.view.flag("attention_k_eq_v");
  full.qkv_bias = full.output_bias = r.view.flag("attention_bias");
  full.qk_norm = true;
  Attention narrow = windowed(r, full, "num_attention_heads", "num_key_value_heads", "head_dim");
  narrow.values_are_keys = false;
  a.norms_per_layer = 4;
  refuse_gemma_extras(r);
  const bool moe = r.view.flag("enable_moe_block");
  if (moe)
    read_gemma_experts(r, a);
  else
    a.dense_layers = a.layers, a.intermediate = r.required("intermediate_size");
  if (r.view.has("final_logit_softcapping"))
    r.note("soft-capping of logits has no parameters and its cost is not modelled");
  BlockWriter blocks;
  for (const std::string& type : r.view.texts_of("layer_types")) {
    BlockKind k;
    k.feed_forward = moe ? FeedForward::Experts : FeedForward::Dense;
    k.letter = type == "sliding_attention" ? "w" : "g";
    if (type == "sliding_attention") k.attention = narrow;
    if (type != "sliding_attention" && type != "full_attention")
      r.problem("layer_types", fmt::format("\"{}\" layers are not supported in this family", type));
    blocks.add(k);
  }
  a.blocks = blocks.order();
}

// MiMo-V2-Flash: windowed layers have KV heads and sinks of their own; keys are wider than values.
void read_mimo_v2(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  a.attention.v_dim = r.required("v_head_dim");
  Attention narrow = windowed(r, a.attention, "swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim");
  narrow.v_dim = r.required("swa_v_head_dim");
  narrow.sinks = r.view.flag("add_swa_attention_sink_bias");
  a.attention.sinks = r.view.flag("add_full_attention_sink_bias");
  a.intermediate = r.required("intermediate_size");
  const std::vector<double>& pattern = r.view.numbers_of("hybrid_layer_pattern");
  const std::vector<double>& experts = r.view.numbers_of("moe_layer_freq");
  if (pattern.size() != experts.size() || static_cast<std::int32_t>(pattern.size()) != a.layers)
    return r.problem("hybrid_layer_pattern", "and moe_layer_freq must have a number for every layer");
  BlockWriter blocks;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    BlockKind k;
    k.feed_forward = experts[i] > 0 ? FeedForward::Experts : FeedForward::Dense;
    if (pattern[i] > 0) k.attention = narrow;
    k.letter = pattern[i] > 0 ? (experts[i] > 0 ? "w" : "v") : (experts[i] > 0 ? "g" : "d");
    blocks.add(k);
  }
  a.blocks = blocks.order();
  a.dense_layers = blocks.count(FeedForward::Dense);
  Moe e = read_mimo_experts(r, a);
  e.layers = blocks.count(FeedForward::Experts);
  a.moe = e;
}

// Llama 3.2 Vision: some layers attend to the image instead of the text.
void read_mllama(HfReading& r, Architecture& a) {
  read_common(r, a, false);
  read_gqa(r, a);
  a.dense_layers = a.layers;
  a.intermediate = r.required("intermediate_size");
  a.encoder_tokens = encoder_tokens(r);
  const std::vector<double>& cross = r.view.numbers_of("cross_attention_layers");
  if (cross.empty()) return r.problem("cross_attention_layers", "absent; this family needs it");
  Attention normed = a.attention;
  normed.qk_norm = true;
  BlockWriter blocks;
  for (std::int32_t layer = 0; layer < a.layers; ++layer) {
    BlockKind k;
    const bool image = std::find(cross.begin(), cross.end(), layer) != cross.end();
    k.letter = image ? "x" : "a";
    k.mixer = image ? Mixer::Cross : Mixer::Attention;
    if (image) k.attention = normed;
    blocks.add(k);
  }
  a.blocks = blocks.order();
  r.note("8 embedding rows of image tokens and two gates per cross-attention layer are not counted");
}

}  // namespace servecast::model
