#include "memory/capacity.hpp"

#include "catch.hpp"
#include "core/units.hpp"

namespace {

using servecast::core::GiB;
using servecast::core::MiB;
using namespace servecast::memory;

// Round numbers: 100 GiB of memory, 40 GiB of weights, a step of 1,024 tokens, blocks of 1 MiB.
CapacityInput round_input() {
  CapacityInput in;
  in.gpu_memory_bytes = 100 * GiB;
  in.utilization = 0.5;
  in.weights_bytes = 40 * GiB;
  in.layers = 64;
  in.hidden = 1024;
  in.widest_layer_elements = 3072;
  in.vocab = 1024;
  in.max_num_batched_tokens = 1024;
  in.max_num_seqs = 256;
  in.block_bytes = MiB;
  return in;
}

MemoryRecipe round_recipe() {
  MemoryRecipe r;
  r.forward_hidden_copies = 1;
  r.sampler_hidden_copies = 1;
  r.sampler_floats_per_logit = 2;
  r.non_torch_gib = 1;
  r.collectives_fabric_gib = 0.5;
  r.collectives_host_gib = 0.25;
  r.graph_mib_per_layer = 4;
  r.null_block = true;
  return r;
}

}  // namespace

TEST_CASE("the activation peak is the larger of the forward pass and the sampling pass") {
  CapacityInput in = round_input();
  MemoryRecipe recipe = round_recipe();
  // forward: 1024 tokens x (1 x 1024 + 3072) x 2 B; sampling: 1024 x 1024 x 2 B + 2 x 256 x 1024 x 4 B
  CHECK(activation_peak(recipe, in) == 8 * MiB);
  recipe.sampler_floats_per_logit = 16;
  CHECK(activation_peak(recipe, in) == 18 * MiB);
  in.max_num_seqs = 4096;  // a step samples at most one row per token
  CHECK(activation_peak(recipe, in) == (2 + 64) * MiB);
}

TEST_CASE("a profiling engine gives the cache what its share leaves, and keeps one null block") {
  const Capacity c = capacity(round_recipe(), round_input());
  CHECK(c.requested == 50 * GiB);
  CHECK(c.non_torch == GiB);
  CHECK(c.graphs == 256 * MiB);
  CHECK(c.kv_bytes == 9 * GiB - 264 * MiB);
  CHECK(c.blocks == 9 * 1024 - 264);
  CHECK(c.usable_blocks == c.blocks - 1);
  CHECK(c.enough);
  CHECK(c.shortfall == 0);
}

TEST_CASE("eager execution needs no graphs and a single GPU no communicators") {
  CapacityInput in = round_input();
  in.graphs = false;
  CHECK(capacity(round_recipe(), in).graphs == 0);
  in.tensor = 4;
  CHECK(capacity(round_recipe(), in).non_torch == 1.25 * GiB);
  in.fabric_links = true;
  CHECK(capacity(round_recipe(), in).non_torch == 1.5 * GiB);
  in.tensor = 8;
  CHECK(capacity(round_recipe(), in).non_torch == 1.5 * GiB);
}

TEST_CASE("a cache too small for the longest request is not enough and says by how much") {
  CapacityInput in = round_input();
  in.blocks_needed = 9 * 1024;
  const Capacity c = capacity(round_recipe(), in);
  CHECK_FALSE(c.enough);
  CHECK(c.shortfall == 265 * MiB);  // 9 x 1024 blocks and the null block against 9 x 1024 - 264
}

TEST_CASE("weights beyond the budget leave no blocks and a negative cache") {
  CapacityInput in = round_input();
  in.weights_bytes = 60 * GiB;
  const Capacity c = capacity(round_recipe(), in);
  CHECK(c.kv_bytes == -11 * GiB - 264 * MiB);
  CHECK(c.blocks == 0);
  CHECK(c.usable_blocks == 0);
  CHECK_FALSE(c.enough);
  CHECK(c.shortfall == 11 * GiB + 264 * MiB + 2 * MiB);
}

TEST_CASE("a stated cache size or block count replaces what profiling leaves") {
  CapacityInput in = round_input();
  in.kv_cache_memory_gib = 2.5;
  CHECK(capacity(round_recipe(), in).blocks == 2560);
  in.num_gpu_blocks_override = 100;
  CHECK(capacity(round_recipe(), in).blocks == 100);
  CHECK(capacity(round_recipe(), in).usable_blocks == 99);
}

TEST_CASE("SGLang's automatic share on eight B200 is 0.852") {
  CapacityInput in = round_input();
  in.gpu_memory_bytes = 183359 * MiB;
  in.max_num_batched_tokens = 16384;
  in.graph_max_batch = 512;
  in.tensor = 8;
  // 512 + 1.5 x 16384 + 2 x 512 + 8 / 8 x 1024 = 27136 MiB
  CHECK(automatic_static_fraction(in) == Approx((183359.0 - 27136.0) / 183359.0).epsilon(1e-12));
  CHECK(automatic_static_fraction(in) == Approx(0.852).margin(5e-4));
}

TEST_CASE("SGLang reserves at least 10 GiB on a GPU above 60 GiB") {
  CapacityInput in = round_input();
  in.gpu_memory_bytes = 80 * GiB;
  in.max_num_batched_tokens = 1024;  // counts as 2,048
  CHECK(automatic_static_fraction(in) == 0.875);
  in.gpu_memory_bytes = 40 * GiB;  // 512 + 3072 + 128 MiB
  CHECK(automatic_static_fraction(in) == 1 - 3712.0 / 40960.0);
}

TEST_CASE("a static share leaves activations to the rest of the memory") {
  MemoryRecipe recipe = round_recipe();
  recipe.kind = RecipeKind::SglangStatic;
  recipe.null_block = false;
  CapacityInput in = round_input();
  in.gpu_memory_bytes = 101 * GiB;  // 100 free once contexts exist
  in.utilization = 0.75;
  const Capacity c = capacity(recipe, in);
  CHECK(c.kv_bytes == 35 * GiB);
  CHECK(c.usable_blocks == 35 * 1024);
}

TEST_CASE("TensorRT-LLM takes a share of what is free after loading") {
  MemoryRecipe recipe = round_recipe();
  recipe.kind = RecipeKind::TrtllmFree;
  CapacityInput in = round_input();
  in.gpu_memory_bytes = 101 * GiB + 8 * MiB;
  // free: 101 GiB + 8 MiB - 40 - 1 GiB - 8 MiB of activations
  CHECK(capacity(recipe, in).kv_bytes == 30 * GiB);
  in.weights_bytes = 200 * GiB;
  CHECK_FALSE(capacity(recipe, in).enough);
}

TEST_CASE("a cache that the user sizes never exceeds what the GPU has left") {
  // 100 - 40 weights - 1 runtime GiB, less 8 MiB of activations and 256 MiB of graphs.
  const double left = 59 * GiB - 264 * MiB;
  const std::int64_t most = 59 * 1024 - 264;
  CapacityInput in = round_input();
  in.num_gpu_blocks_override = most;
  Capacity c = capacity(round_recipe(), in);
  CHECK(c.most_kv_bytes == left);
  CHECK(c.most_blocks == most);
  CHECK(c.kv_bytes == left);
  CHECK_FALSE(c.exceeds_memory);
  CHECK(c.enough);
  in.num_gpu_blocks_override = most + 1;
  c = capacity(round_recipe(), in);
  CHECK(c.exceeds_memory);
  CHECK_FALSE(c.enough);
  CHECK(c.shortfall == MiB);
  in.num_gpu_blocks_override.reset();
  in.kv_cache_memory_gib = 59;
  c = capacity(round_recipe(), in);
  CHECK(c.exceeds_memory);
  CHECK(c.shortfall == 264 * MiB);
}

TEST_CASE("recurrent states take their share of what is left, or one slot for every request") {
  CapacityInput in = round_input();
  MemoryRecipe recipe = round_recipe();
  recipe.null_block = false;
  const double left = capacity(recipe, in).kv_bytes;
  in.pooled_state_bytes = 16 * MiB;
  const Capacity each = capacity(recipe, in);
  CHECK(each.state_slots == 256);
  CHECK(each.states == 4 * GiB);
  CHECK(each.kv_bytes == left - 4 * GiB);
  recipe.state_to_kv_ratio = 1;
  const Capacity half = capacity(recipe, in);
  CHECK(half.state_slots == static_cast<std::int64_t>(left / 2 / (16 * MiB)));
  CHECK(half.kv_bytes == left - static_cast<double>(half.state_slots) * 16 * MiB);
  CHECK(half.blocks == static_cast<std::int64_t>(half.kv_bytes / MiB));
}
