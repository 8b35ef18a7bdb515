// How much memory a serving engine leaves for the KV cache, by the engine's own recipe, and how many blocks that is.
// Plain numbers of one GPU (rank): no model, no hardware type. Bytes are doubles holding whole numbers or estimates; a
// negative kv_bytes means the engine does not start. The pool of blocks itself is memory/block_pool.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace servecast::config {
class Fields;
}

namespace servecast::memory {

// vllm_profile: a share of all memory, minus what one profiling step at the token limit was seen to use.
// sglang_static: a static share, automatic or given, minus weights; activations live in the rest.
// trtllm_free: a share of what is free once the engine is loaded and has run its largest step.
enum class RecipeKind : std::uint8_t { VllmProfile, SglangStatic, TrtllmFree };
inline constexpr std::string_view recipe_kind_names[] = {"vllm_profile", "sglang_static", "trtllm_free"};
constexpr std::span<const std::string_view> names_of(RecipeKind) { return recipe_kind_names; }

// Constants of one engine generation. A stack file holds them with their sources; none belongs to a model or GPU.
struct MemoryRecipe {
  RecipeKind kind = RecipeKind::VllmProfile;
  double forward_hidden_copies = 0;     // hidden-wide tensors alive at the widest layer of a forward pass
  double sampler_hidden_copies = 0;     // hidden-wide tensors alive while sampling
  double sampler_floats_per_logit = 0;  // 4-byte words alive per logit while sampling
  double non_torch_gib = 0;             // contexts, cuBLAS and attention workspaces counted against the budget
  double collectives_fabric_gib = 0;    // communicators of a tensor-parallel rank on NVLink-like links
  double collectives_host_gib = 0;      // the same where GPUs meet over PCIe only
  double graph_mib_per_layer = 0;       // captured graphs, where the engine subtracts them; 0: it does not
  bool null_block = false;              // one block of the pool is never handed out
  double state_to_kv_ratio = 0;         // recurrent states' memory over that of keys and values; 0: max_num_seqs states
  double states_per_request = 0;        // slots of that pool that a running request may need; 0: one
};

void describe(config::Fields& f, MemoryRecipe& r);

struct CapacityInput {
  double gpu_memory_bytes = 0;  // visible to software
  double utilization = 0.9;     // ignored by sglang_static when automatic_fraction is set
  bool automatic_fraction = false;
  double weights_bytes = 0;  // of the rank, tables that stay loaded included
  std::int32_t layers = 0;
  double hidden = 0;                 // elements
  double widest_layer_elements = 0;  // per token and rank, alive inside the widest layer beside the hidden copies
  double activation_bytes = 2;       // per element
  double vocab = 0;                  // rows of the logits a rank samples from: the whole vocabulary
  std::int64_t max_num_batched_tokens = 0;
  std::int64_t max_num_seqs = 0;
  std::int32_t tensor = 1;    // ranks
  bool fabric_links = false;  // ranks reach each other over NVLink or similar
  bool graphs = true;
  std::int32_t graph_max_batch = 0;  // sglang_static
  double block_bytes = 0;            // of one block, all layers that share the pool together
  double pooled_state_bytes = 0;     // of a request's recurrent states, where they have a pool of their own
  std::optional<double> kv_cache_memory_gib;
  std::optional<std::int64_t> num_gpu_blocks_override;
  std::int64_t blocks_needed = 1;  // by one request of the longest allowed length
};

struct Capacity {
  double requested = 0;  // budget of the engine; trtllm_free: memory outside its reserve
  double weights = 0;
  double activation_peak = 0;
  double non_torch = 0;
  double graphs = 0;
  double kv_bytes = 0;      // as the recipe or the user says, before rounding to blocks; below 0: nothing is left
  std::int64_t blocks = 0;  // as the engine logs them, the null block included
  std::int64_t usable_blocks = 0;  // without it
  double states = 0;               // bytes of the pool of recurrent states, taken from kv_bytes
  std::int64_t state_slots = 0;    // that it holds; requests at once: state_slots / states_per_request
  double most_kv_bytes = 0;        // what the GPU has beside everything else, budget or not
  std::int64_t most_blocks = 0;    // that this holds
  bool exceeds_memory = false;     // the user's own size of the cache is more than that
  bool enough = false;             // it does not, and one request of the longest allowed length fits
  double shortfall = 0;            // bytes missing for that, 0 when enough
};

// Requires: positive memory, block_bytes and token limits.
Capacity capacity(const MemoryRecipe& recipe, const CapacityInput& input);

// Peak of the larger of a forward pass and the sampling pass after it, bytes.
double activation_peak(const MemoryRecipe& recipe, const CapacityInput& input);

// SGLang's automatic mem_fraction_static.
double automatic_static_fraction(const CapacityInput& input);

}  // namespace servecast::memory
