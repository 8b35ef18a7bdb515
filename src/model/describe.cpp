#include "config/fields.hpp"
#include "model/architecture.hpp"

namespace servecast::model {
namespace {

using config::closed;

// Generous upper bounds: a count beyond them is a mistake, and every product of them that a parameter count takes stays
// inside 64 bits.
constexpr double max_layers = 1024;
constexpr double max_hidden = 1 << 17;
constexpr double max_width = 1 << 19;
constexpr double max_experts = 8192;
constexpr double max_heads = 4096;
constexpr double max_head_width = 1 << 14;
constexpr double max_vocabulary = 1 << 24;
constexpr double max_context = 1 << 30;

void describe_mla(config::Fields& f, Attention& a) {
  f.field("q_lora_rank", a.q_lora_rank, closed(0, max_head_width), "MLA: rank of the query projection, 0 = direct");
  f.field("kv_lora_rank", a.kv_lora_rank, closed(0, max_head_width), "MLA: rank of the cached latent");
  f.field("qk_nope_dim", a.qk_nope_dim, closed(0, max_head_width), "MLA: query and key width without position");
  f.field("qk_rope_dim", a.qk_rope_dim, closed(0, max_head_width), "MLA: width of the rotary part");
  f.field("v_dim", a.v_dim, closed(0, max_head_width), "value width per head; gqa: 0 = head_dim");
  f.field("indexer_heads", a.indexer_heads, closed(0, max_heads),
          "sparse MLA: heads of the token indexer, 0 = an earlier block's");
  f.field("indexer_dim", a.indexer_dim, closed(0, max_head_width), "sparse MLA: width of an indexer head");
  f.field("indexer_top_k", a.indexer_top_k, closed(0, max_context), "sparse MLA: tokens that attention reads");
}

void describe_blocks(config::Fields& f, Architecture& a) {
  f.required("layers", a.layers, closed(1, max_layers), "transformer blocks");
  f.required("hidden", a.hidden, closed(1, max_hidden), "width of the residual stream");
  f.required("vocab", a.vocab, closed(1, max_vocabulary), "rows of the embedding");
  f.field("tied_embeddings", a.tied_embeddings, "LM head shares the embedding's weights");
  f.required("dense_layers", a.dense_layers, closed(0, max_layers), "blocks with a dense MLP");
  f.field("intermediate", a.intermediate, closed(0, max_width), "width of the dense MLP, 0 if none");
  f.field("moe_interleaved", a.moe_interleaved, "dense and MoE blocks alternate, dense first");
  f.field("gated_mlp", a.gated_mlp, "three matrices per MLP; false = two");
  f.field("mlp_bias", a.mlp_bias, "biases on the dense MLP");
  f.field("layer_norm_bias", a.layer_norm_bias, "LayerNorm with bias instead of RMSNorm");
  f.field("learned_positions", a.learned_positions, closed(0, max_context), "rows of a learned position table");
  f.field("norms_per_layer", a.norms_per_layer, closed(0, 16), "normalisations of the residual stream per block");
}

}  // namespace

void describe(config::Fields& f, Attention& a) {
  f.field("kind", a.kind, "gqa (also multi-head and multi-query) or mla");
  f.required("heads", a.heads, closed(1, max_heads), "query heads");
  f.required("kv_heads", a.kv_heads, closed(1, max_heads), "key and value heads");
  f.field("head_dim", a.head_dim, closed(0, max_head_width), "width of a head; MLA: leave out");
  f.field("qkv_bias", a.qkv_bias, "biases on query, key and value projections");
  f.field("output_bias", a.output_bias, "bias on the output projection");
  f.field("qk_norm", a.qk_norm, "RMSNorm on q and k, per head");
  f.field("qk_norm_all_heads", a.qk_norm_all_heads, "RMSNorm on q and k over all heads together");
  f.field("sinks", a.sinks, "one learned sink logit per head");
  f.field("output_gate", a.output_gate, "elementwise gate on the attention output");
  f.field("values_are_keys", a.values_are_keys, "one projection gives keys and values; both are cached");
  describe_mla(f, a);
  f.field("window", a.window, closed(0, max_context), "sliding or chunked window in tokens, 0 = none");
  f.field("window_is_chunk", a.window_is_chunk, "windows are fixed chunks");
  f.field("windowed_layers", a.windowed_layers, closed(0, max_layers), "attention layers that use the window");
}

void describe(config::Fields& f, Moe& m) {
  f.required("experts", m.experts, closed(1, max_experts), "routed experts per layer");
  f.required("top_k", m.top_k, closed(1, max_experts), "experts per token");
  f.required("intermediate", m.intermediate, closed(1, max_width), "width of one expert");
  f.field("shared_experts", m.shared_experts, closed(0, max_experts), "experts that every token uses");
  f.field("shared_intermediate", m.shared_intermediate, closed(0, max_width), "width of all shared experts together");
  f.required("layers", m.layers, closed(1, max_layers), "blocks with experts");
  f.field("latent", m.latent, closed(0, max_width), "width routed experts work in between two projections, 0 = hidden");
  f.field("router_bias", m.router_bias, "one bias per expert in the router");
  f.field("expert_bias", m.expert_bias, "biases on the expert projections");
  f.field("shared_gate", m.shared_gate, "scalar gate on the shared expert");
  f.field("scoring", m.scoring, "how router logits become scores");
  f.field("groups", m.groups, closed(1, max_experts), "expert groups of group-limited routing");
  f.field("top_groups", m.top_groups, closed(1, max_experts), "groups a token may use");
  f.field("routed_scaling", m.routed_scaling, config::above(0, 1000), "factor on the routed output");
}

void describe(config::Fields& f, BlockKind& k) {
  f.required("letter", k.letter, "one character that stands for the kind in the order");
  f.field("mixer", k.mixer, "attention, cross (attention to an encoder), state or none");
  f.field("feed_forward", k.feed_forward, "dense, experts or none");
  f.field("attention", k.attention, "where it differs from the model's; a window holds for every block of the kind");
  f.field("intermediate", k.intermediate, closed(0, max_width), "width of the dense MLP, 0 = the model's");
}

void describe(config::Fields& f, BlockOrder& b) {
  f.required("kinds", b.kinds, "kinds of blocks");
  f.required("order", b.order, "one letter a block, first to last");
}

void describe(config::Fields& f, TensorFormats& t) {
  f.field("attention", t.attention, "attention projections");
  f.field("attention_output", t.attention_output, "attention's output projection, where it differs");
  f.field("mlp", t.mlp, "dense MLP and shared experts");
  f.field("experts", t.experts, "routed experts");
  f.field("router", t.router, "routers");
  f.field("lm_head", t.lm_head, "LM head");
  f.field("embedding", t.embedding, "input embedding");
}

void describe(config::Fields& f, LayerStatistics& l) {
  f.required("first", l.first, closed(0, max_layers - 1), "first block, from 0");
  f.field("count", l.count, closed(1, max_layers), "number of blocks");
  f.required("weights", l.weights, "values of the feed-forward weights");
  f.required("inputs", l.inputs, "values of the activations entering them");
}

void describe(config::Fields& f, TensorStatistics& t) {
  f.required("layers", t.layers, "ranges of blocks; together every block once");
  f.required("source", t.source, "how they were measured");
}

void describe(config::Fields& f, Published& p) {
  f.field("total_billion", p.total_billion, closed(0, 1e6), "published total parameters, 0 = none");
  f.field("active_billion", p.active_billion, closed(0, 1e6), "published active parameters, 0 = none");
  f.field("counting", p.counting, "source of the figures and what they include");
}

void describe(config::Fields& f, Architecture& a) {
  f.required("name", a.name, "name users write");
  f.required("family", a.family, "model_type of its configuration");
  describe_blocks(f, a);
  f.required("attention", a.attention, "attention of every block that does not state its own");
  f.field("moe", a.moe, "mixture of experts, absent for dense models");
  f.field("state", a.state, "mixer with a state of constant size, of the blocks that have one");
  f.field("blocks", a.blocks, "kinds of blocks and their order, where blocks differ in more than windows and experts");
  f.field("encoder_tokens", a.encoder_tokens, closed(0, max_context),
          "keys and values per request that cross attention sees");
  f.required("max_position", a.max_position, closed(1, max_context), "longest context the model states");
  f.field("mtp_layers", a.mtp_layers, closed(0, 64), "multi-token-prediction layers, not counted in totals");
  f.field("tower_parameters", a.tower_parameters, closed(0, 1e12),
          "parameters of a vision or audio encoder loaded beside the language model, not counted in totals");
  f.field("formats", a.formats, "number formats of the published checkpoint, by tensor class");
  f.field("tensor_statistics", a.tensor_statistics,
          "distributions of feed-forward values by block, for the dynamic precision policy");
  f.field("published", a.published, "published parameter counts, for display");
  f.required("source", a.source, "where the numbers come from");
  f.field("note", a.note, "what the numbers leave out");
  if (f.reading()) check(a, [&f](std::string_view key, const std::string& message) { f.problem(key, message); });
}

}  // namespace servecast::model
