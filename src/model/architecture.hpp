// A transformer's architecture as its own configuration states it: what parameters, KV bytes and operators follow from.
// Counts are per model, never per rank; widths are in elements. A model file is this struct plus provenance.
#pragma once

#include "model/state_mixer.hpp"
#include "precision/distribution.hpp"
#include "precision/format.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::model {

enum class AttentionKind : std::uint8_t { Gqa, Mla };
inline constexpr std::string_view attention_kind_names[] = {"gqa", "mla"};
constexpr std::span<const std::string_view> names_of(AttentionKind) { return attention_kind_names; }

struct Attention {
  AttentionKind kind = AttentionKind::Gqa;
  std::int32_t heads = 0;
  std::int32_t kv_heads = 0;
  std::int32_t head_dim = 0;  // GQA: of q and k, and of v unless v_dim says else; MLA: 0
  bool qkv_bias = false;
  bool output_bias = false;
  bool qk_norm = false;            // RMSNorm weights on q and k, per head
  bool qk_norm_all_heads = false;  // normalised over all heads together (two extra tiny all-reduces under TP)
  bool sinks = false;              // one learned sink logit per head (gpt-oss)
  bool output_gate = false;
  bool values_are_keys = false;  // GQA: no value projection, the keys' serves both (both are cached)
  std::int32_t q_lora_rank = 0;  // MLA from here; 0 = q projected directly
  std::int32_t kv_lora_rank = 0;
  std::int32_t qk_nope_dim = 0;
  std::int32_t qk_rope_dim = 0;
  std::int32_t v_dim = 0;          // GQA: 0 = head_dim
  std::int32_t indexer_heads = 0;  // sparse MLA (DeepSeek-V3.2): lightning indexer; 0 with top_k: an earlier block's
  std::int32_t indexer_dim = 0;
  std::int32_t indexer_top_k = 0;
  std::int32_t window = 0;           // sliding or chunked window in tokens, 0 = none
  bool window_is_chunk = false;      // chunked-local attention (Llama 4)
  std::int32_t windowed_layers = 0;  // how many of the attention layers use the window
};

enum class Scoring : std::uint8_t { Softmax, Sigmoid };
inline constexpr std::string_view scoring_names[] = {"softmax", "sigmoid"};
constexpr std::span<const std::string_view> names_of(Scoring) { return scoring_names; }

struct Moe {
  std::int32_t experts = 0;
  std::int32_t top_k = 0;
  std::int32_t intermediate = 0;  // per expert
  std::int32_t shared_experts = 0;
  std::int32_t shared_intermediate = 0;  // of all shared experts together
  std::int32_t layers = 0;               // MoE layers
  std::int32_t latent = 0;               // width the routed experts work in, between two shared projections; 0 = hidden
  bool router_bias = false;              // selection bias, one per expert
  bool expert_bias = false;              // biases on expert projections (gpt-oss)
  bool shared_gate = false;              // scalar gate on the shared expert
  Scoring scoring = Scoring::Softmax;
  std::int32_t groups = 1;
  std::int32_t top_groups = 1;
  double routed_scaling = 1.0;
};

// Formats of the published checkpoint, per tensor class. A pool's `precision` section overrides them.
struct TensorFormats {
  precision::Format attention = precision::Format::BFloat16;  // all projections, unless attention_output says else
  precision::Format mlp = precision::Format::BFloat16;        // dense MLP and shared experts
  precision::Format experts = precision::Format::BFloat16;
  precision::Format router = precision::Format::BFloat16;
  precision::Format lm_head = precision::Format::BFloat16;
  precision::Format embedding = precision::Format::BFloat16;
  std::optional<precision::Format> attention_output;  // where the output projection differs (DeepSeek NVFP4)
  // Of dense MLP, shared and routed experts of each block, and of the activations entering them: a precision policy's
  // choice, instead of mlp and experts. Empty, or one per block.
  std::vector<precision::Format> feed_forward = {};
};

// How values of the feed-forward matrices are distributed in blocks [first, first + count): what a precision policy
// judges formats by.
struct LayerStatistics {
  std::int32_t first = 0;
  std::int32_t count = 1;
  precision::Distribution weights;
  precision::Distribution inputs;  // activations entering them
};

struct TensorStatistics {
  std::vector<LayerStatistics> layers;  // every block once
  std::string source;
};

struct Published {
  double total_billion = 0;  // 0 when not published
  double active_billion = 0;
  std::string counting;  // with or without embeddings, what is included
};

// What mixes tokens in a block. Cross: attention over the keys and values of an encoder.
enum class Mixer : std::uint8_t { Attention, Cross, State, None };
inline constexpr std::string_view mixer_names[] = {"attention", "cross", "state", "none"};
constexpr std::span<const std::string_view> names_of(Mixer) { return mixer_names; }

enum class FeedForward : std::uint8_t { Dense, Experts, None };
inline constexpr std::string_view feed_forward_names[] = {"dense", "experts", "none"};
constexpr std::span<const std::string_view> names_of(FeedForward) { return feed_forward_names; }

// One kind of block of a model whose blocks differ.
struct BlockKind {
  std::string letter;  // one character, which stands for it in the order
  Mixer mixer = Mixer::Attention;
  FeedForward feed_forward = FeedForward::Dense;
  std::optional<Attention> attention;  // where it differs from the model's; a window holds for every block of the kind
  std::int32_t intermediate = 0;       // width of its dense MLP, 0 = the model's
};

struct BlockOrder {
  std::vector<BlockKind> kinds;
  std::string order;  // a letter a block, first to last
};

struct Architecture {
  std::string name;
  std::string family;       // model_type of its configuration
  std::int32_t layers = 0;  // transformer blocks
  std::int32_t hidden = 0;
  std::int32_t vocab = 0;
  bool tied_embeddings = false;
  std::int32_t dense_layers = 0;  // blocks with a dense MLP
  std::int32_t intermediate = 0;  // of the dense MLP, 0 if none
  bool moe_interleaved = false;   // dense and MoE blocks alternate, dense first; else all dense blocks come first
  bool gated_mlp = true;          // SwiGLU-like, three matrices; else two
  bool mlp_bias = false;
  bool layer_norm_bias = false;        // LayerNorm with bias instead of RMSNorm (OPT)
  std::int32_t learned_positions = 0;  // rows of a learned position table (OPT), 0 with rotary
  std::int32_t norms_per_layer = 2;    // blocks of which one half is absent: half of them
  Attention attention;
  std::optional<Moe> moe;
  std::optional<StateMixer> state;   // of the blocks that have one
  std::optional<BlockOrder> blocks;  // absent: all alike but for windows and experts, as the counts say
  std::int32_t encoder_tokens = 0;   // keys and values that cross attention sees per request
  std::int32_t max_position = 0;
  std::int32_t mtp_layers = 0;        // multi-token-prediction layers, not counted in totals
  std::int64_t tower_parameters = 0;  // vision or audio encoder loaded beside the model, 16-bit, not counted in totals
  TensorFormats formats;
  std::optional<TensorStatistics> tensor_statistics;
  std::optional<Published> published;
  std::string source;
  std::string note;
};

// Receives a key of the architecture ("attention/kv_heads") and what is wrong with it.
using Complain = std::function<void(std::string_view key, const std::string& message)>;

// Width of a value head.
constexpr std::int32_t value_width(const Attention& a) { return a.v_dim > 0 ? a.v_dim : a.head_dim; }

// Rules across fields. describe() applies them while reading; call it for an architecture built in code.
void check(const Architecture& a, const Complain& complain);

void describe(config::Fields& f, Attention& a);
void describe(config::Fields& f, Moe& m);
void describe(config::Fields& f, BlockKind& k);
void describe(config::Fields& f, BlockOrder& b);
void describe(config::Fields& f, TensorFormats& t);
void describe(config::Fields& f, LayerStatistics& l);
void describe(config::Fields& f, TensorStatistics& t);
void describe(config::Fields& f, Published& p);
void describe(config::Fields& f, Architecture& a);

}  // namespace servecast::model
