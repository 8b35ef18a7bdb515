// Mixers that keep a state of constant size per sequence instead of keys and values: Mamba-2, and linear attention
// with a gated delta rule. One vocabulary for all: `heads` value heads of `head_dim`, `groups` key (B, C) heads of
// `state_dim`, a short convolution in front. The state of a head is head_dim x state_dim. Counts are per model; local
// ones are of one tensor-parallel rank, which has at least one group.
#pragma once

#include "precision/format.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace servecast::config {
class Fields;
}

namespace servecast::model {

// mamba2: SSD of Dao and Gu (arXiv 2405.21060). gated_delta: Gated DeltaNet (arXiv 2412.06464) as Qwen3-Next has it.
// kimi_delta: the same with a decay per channel (arXiv 2510.26692), its gates projected apart.
enum class StateKind : std::uint8_t { Mamba2, GatedDelta, KimiDelta };
inline constexpr std::string_view state_kind_names[] = {"mamba2", "gated_delta", "kimi_delta"};
constexpr std::span<const std::string_view> names_of(StateKind) { return state_kind_names; }

struct StateMixer {
  StateKind kind = StateKind::Mamba2;
  std::int32_t heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t groups = 0;
  std::int32_t state_dim = 0;
  std::int32_t conv_kernel = 4;
  bool conv_bias = false;
  bool projection_bias = false;
  std::int32_t gate_rank = 0;                             // kimi_delta: of the output gate's projection, 0 = full
  std::int32_t chunk = 128;                               // tokens that prefill kernels take at a time
  precision::Format format = precision::Format::Float32;  // of the recurrent state; the convolution's is 16 bits
};

void describe(config::Fields& f, StateMixer& s);

// What is inconsistent, or nothing.
std::optional<std::string> state_problem(const StateMixer& s);

// Widths on one rank.
struct StateWidths {
  std::int64_t heads = 0;
  std::int64_t value = 0;  // heads x head_dim
  std::int64_t key = 0;    // groups x state_dim
  std::int64_t conv = 0;   // channels of the convolution: value + 2 key
  std::int64_t state = 0;  // elements of the recurrent state
};
// Requires: tensor divides the heads.
StateWidths state_widths(const StateMixer& s, std::int32_t tensor);

// Parameters of one block's mixer.
std::int64_t state_parameters(const StateMixer& s, std::int64_t hidden);

// Weights of one block's mixer on one rank: matrices in the given format, what is small in 16 bits.
std::int64_t state_weight_bytes(const StateMixer& s, std::int64_t hidden, precision::Format format,
                                std::int32_t tensor);

// State of one sequence in one block on one rank, bytes.
std::int64_t state_bytes(const StateMixer& s, std::int32_t tensor);

}  // namespace servecast::model
