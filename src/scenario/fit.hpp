// Whether a model fits on a GPU under a stack, and how much then: the engine's own memory recipe applied to the model's
// weights and KV layout, one rank of a tensor-parallel replica. No simulation. When it does not fit, the smallest
// change that does is in scenario/remedy.hpp.
#pragma once

#include "engine/settings.hpp"
#include "hardware/gpu.hpp"
#include "memory/capacity.hpp"
#include "model/architecture.hpp"
#include "model/footprint.hpp"
#include "precision/format.hpp"
#include "scenario/kv_layout.hpp"
#include "scenario/stack.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::scenario {

struct FitInput {
  model::Architecture architecture;
  model::TensorFormats formats;  // of the weights, overrides applied
  precision::Format kv_cache = precision::Format::BFloat16;
  hardware::Gpu gpu;
  Stack stack;
  engine::Settings settings;                 // the user's
  std::int32_t tensor = 1;                   // ranks
  std::int32_t decode_context = 1;           // of these ranks, those that share a sequence's tokens
  std::optional<model::Architecture> draft;  // model of speculative decoding, in its own formats, on the same ranks
  std::int32_t ranks_per_gpu = 1;            // a rank runs on `gpu`, which may be a part of one
  std::int32_t domain = 8;                   // ranks that scale-up links join
  std::int32_t domains = 1;                  // of the cluster
  std::int32_t replicas = 1;
  std::string pointer = "/pools/0";                    // to the pool in the user's document, for remedies
  std::vector<std::string> weight_keys = {"weights"};  // keys of its precision that set weight formats
  double mean_request_tokens = 0;                      // prompt and output; 0: longest allowed
  std::optional<model::Padding> padding;               // absent: what the GPU's kernels want
};

struct FitReport {
  engine::Settings settings;   // resolved
  model::WeightBytes weights;  // of the rank, by class
  double tower_bytes = 0;      // vision or audio encoder beside the language model
  double table_bytes = 0;      // rotary tables and copies that kernels keep
  double draft_bytes = 0;      // weights of a draft model
  KvLayout kv;
  memory::Capacity capacity;
  std::int64_t kv_tokens = 0;         // as the engine logs them
  std::int64_t longest_requests = 0;  // of max_model_len at once
  std::int64_t mean_requests = 0;     // of the mean length at once, max_num_seqs not considered
  std::int64_t seats = 0;             // requests that run at once: max_num_seqs, or fewer where states run out
  std::int64_t engine_blocks = 0;     // usable blocks of the pool, without what is set aside
  bool fits = false;
  std::string reason;  // empty when it fits: what is missing, in one line
};

// Why the model cannot be split or its KV cache not be held that way, or nothing.
std::optional<std::string> fit_problem(const FitInput& input);

// The settings of the pool with every default resolved, and how the engine then lays the KV cache out, which requires
// that fit_problem() is empty.
engine::Settings settings_of(const FitInput& input);
KvLayout layout_of(const FitInput& input, const engine::Settings& resolved);

// Requires: fit_problem() is empty.
FitReport fit(const FitInput& input);

// How kernels for the GPU pad this model's tensors.
model::Padding padding_of(const model::TensorFormats& formats, const hardware::Gpu& gpu);

// Elements alive per token inside the widest layer of a rank, beside hidden-wide ones: MLP, experts or attention.
double widest_layer_elements(const model::Architecture& m, std::int32_t tensor);

}  // namespace servecast::scenario
