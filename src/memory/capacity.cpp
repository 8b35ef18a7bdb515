#include "memory/capacity.hpp"

#include "config/fields.hpp"
#include "core/error.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::memory {
namespace {

using core::GiB;
using core::MiB;

constexpr double logit_bytes = 4;  // sampler floats are FP32 words

// SGLang server_args, all in MiB: a fixed part, a part per token of the prefill chunk, per captured batch row and per
// GPU in eighths of a node, and a floor on large GPUs (specified by the engine's source).
constexpr double static_fixed_mib = 512;
constexpr double static_mib_per_chunk_token = 1.5;
constexpr double static_least_chunk = 2048;
constexpr double static_mib_per_graph_row = 2;
constexpr double static_mib_per_rank = 1024.0 / 8;
constexpr double static_floor_mib = 10240;
constexpr double static_floor_above_mib = 60.0 * 1024;

double collectives(const MemoryRecipe& recipe, const CapacityInput& in) {
  if (in.tensor <= 1) return 0;
  return (in.fabric_links ? recipe.collectives_fabric_gib : recipe.collectives_host_gib) * GiB;
}

double graphs(const MemoryRecipe& recipe, const CapacityInput& in) {
  return in.graphs ? recipe.graph_mib_per_layer * MiB * in.layers : 0.0;
}

void split_by_recipe(const MemoryRecipe& recipe, const CapacityInput& in, Capacity& out) {
  switch (recipe.kind) {
    case RecipeKind::VllmProfile:
      out.activation_peak = activation_peak(recipe, in);
      out.graphs = graphs(recipe, in);
      out.requested = in.gpu_memory_bytes * in.utilization;
      out.kv_bytes = out.requested - out.weights - out.activation_peak - out.non_torch - out.graphs;
      return;
    case RecipeKind::SglangStatic: {
      // The share is of what is free once contexts and communicators exist; activations and graphs use the rest.
      const double fraction = in.automatic_fraction ? automatic_static_fraction(in) : in.utilization;
      out.requested = (in.gpu_memory_bytes - out.non_torch) * fraction;
      out.kv_bytes = out.requested - out.weights;
      return;
    }
    case RecipeKind::TrtllmFree: {
      out.activation_peak = activation_peak(recipe, in);
      const double free = in.gpu_memory_bytes - out.weights - out.activation_peak - out.non_torch;
      out.kv_bytes = free > 0 ? free * in.utilization : free;
      out.requested = out.kv_bytes + out.weights + out.activation_peak + out.non_torch;
      return;
    }
  }
}

// Recurrent states get a pool of their own before the rest becomes blocks.
void take_states(const MemoryRecipe& recipe, const CapacityInput& in, Capacity& out) {
  if (in.pooled_state_bytes <= 0) return;
  const double share = recipe.state_to_kv_ratio / (1 + recipe.state_to_kv_ratio);
  out.state_slots = recipe.state_to_kv_ratio > 0
                        ? static_cast<std::int64_t>(std::max(0.0, out.kv_bytes) * share / in.pooled_state_bytes)
                        : in.max_num_seqs;
  out.states = static_cast<double>(out.state_slots) * in.pooled_state_bytes;
  out.kv_bytes -= out.states;
}

std::int64_t blocks_in(double bytes, double block_bytes) {
  return bytes > 0 ? static_cast<std::int64_t>(std::floor(bytes / block_bytes)) : 0;
}

}  // namespace

double activation_peak(const MemoryRecipe& recipe, const CapacityInput& in) {
  const double tokens = static_cast<double>(in.max_num_batched_tokens);
  const double rows = static_cast<double>(std::min(in.max_num_seqs, in.max_num_batched_tokens));
  const double hidden_bytes = tokens * in.hidden * in.activation_bytes;
  const double forward =
      recipe.forward_hidden_copies * hidden_bytes + tokens * in.widest_layer_elements * in.activation_bytes;
  const double sampling =
      recipe.sampler_hidden_copies * hidden_bytes + recipe.sampler_floats_per_logit * rows * in.vocab * logit_bytes;
  return std::max(forward, sampling);
}

double automatic_static_fraction(const CapacityInput& in) {
  const double memory_mib = in.gpu_memory_bytes / MiB;
  const double chunk = std::max(static_cast<double>(in.max_num_batched_tokens), static_least_chunk);
  double reserved = static_fixed_mib + static_mib_per_chunk_token * chunk +
                    static_mib_per_graph_row * in.graph_max_batch + static_mib_per_rank * in.tensor;
  if (memory_mib > static_floor_above_mib) reserved = std::max(reserved, static_floor_mib);
  return (memory_mib - reserved) / memory_mib;
}

Capacity capacity(const MemoryRecipe& recipe, const CapacityInput& in) {
  SERVECAST_ENSURE(in.gpu_memory_bytes > 0 && in.block_bytes > 0, "memory {} B, block {} B", in.gpu_memory_bytes,
                   in.block_bytes);
  SERVECAST_ENSURE(in.max_num_batched_tokens > 0 && in.max_num_seqs > 0, "{} batched tokens, {} sequences",
                   in.max_num_batched_tokens, in.max_num_seqs);
  Capacity out;
  out.weights = in.weights_bytes;
  out.non_torch = recipe.non_torch_gib * GiB + collectives(recipe, in);
  split_by_recipe(recipe, in, out);
  take_states(recipe, in, out);
  out.most_kv_bytes = in.gpu_memory_bytes - out.weights - out.activation_peak - out.non_torch - out.graphs - out.states;
  out.most_blocks = blocks_in(out.most_kv_bytes, in.block_bytes);
  if (in.kv_cache_memory_gib) out.kv_bytes = *in.kv_cache_memory_gib * GiB;
  out.blocks = blocks_in(out.kv_bytes, in.block_bytes);
  if (in.num_gpu_blocks_override) {
    out.blocks = *in.num_gpu_blocks_override;
    out.kv_bytes = static_cast<double>(out.blocks) * in.block_bytes;
  }
  const std::int64_t null_blocks = recipe.null_block ? 1 : 0;
  out.usable_blocks = std::max<std::int64_t>(0, out.blocks - null_blocks);
  out.exceeds_memory = out.blocks > out.most_blocks;
  out.enough = !out.exceeds_memory && out.usable_blocks >= in.blocks_needed;
  if (out.exceeds_memory) {
    out.shortfall = out.kv_bytes - out.most_kv_bytes;
  } else if (!out.enough) {
    const double needed = static_cast<double>(in.blocks_needed + null_blocks) * in.block_bytes;
    out.shortfall = needed - std::min(out.kv_bytes, static_cast<double>(out.blocks) * in.block_bytes);
  }
  return out;
}

void describe(config::Fields& f, MemoryRecipe& r) {
  using config::closed;
  f.required("kind", r.kind, "how the engine divides its memory");
  f.field("forward_hidden_copies", r.forward_hidden_copies, closed(0, 100),
          "hidden-wide tensors alive at the widest layer of a forward pass");
  f.field("sampler_hidden_copies", r.sampler_hidden_copies, closed(0, 100), "hidden-wide tensors alive while sampling");
  f.field("sampler_floats_per_logit", r.sampler_floats_per_logit, closed(0, 100),
          "4-byte words alive per logit while sampling");
  f.field("non_torch_gib", r.non_torch_gib, closed(0, 1000), "contexts and workspaces counted against the budget, GiB");
  f.field("collectives_fabric_gib", r.collectives_fabric_gib, closed(0, 1000),
          "communicators of a tensor-parallel rank on NVLink-like links, GiB");
  f.field("collectives_host_gib", r.collectives_host_gib, closed(0, 1000),
          "communicators of a tensor-parallel rank over PCIe only, GiB");
  f.field("graph_mib_per_layer", r.graph_mib_per_layer, closed(0, 10000),
          "captured graphs that the engine subtracts, MiB per layer; 0: it subtracts none");
  f.field("null_block", r.null_block, "one block of the pool is never handed out");
  f.field("state_to_kv_ratio", r.state_to_kv_ratio, closed(0, 1000),
          "memory of recurrent states over that of keys and values; 0: states for max_num_seqs requests");
  f.field("states_per_request", r.states_per_request, closed(0, 100),
          "slots of the pool of states that a running request may need; 0: one");
}

}  // namespace servecast::memory
