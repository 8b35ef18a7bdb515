// How an engine lays a model's KV cache out in blocks of one pool: groups of layers that share a page size, and the
// blocks a request of a given length holds. Layers with a window, layers with a recurrent state and layers that attend
// to an encoder form groups of their own where the engine keeps only the window and shares its pool (vLLM hybrid KV
// cache groups); elsewhere every layer keeps every token and states have a pool of their own.
#pragma once

#include "engine/kv_kinds.hpp"
#include "model/architecture.hpp"
#include "precision/format.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::scenario {

struct KvLayout {
  std::int32_t block_size = 16;  // tokens of a block of layers that keep every token
  double block_bytes = 0;        // of one block: the layers of one group
  std::int64_t full_groups = 1;  // groups whose layers keep every token
  std::int64_t windowed_groups = 0;
  std::int64_t window = 0;  // tokens
  bool window_is_chunk = false;
  std::int32_t windowed_block_size = 16;  // tokens of a block of layers with a window
  std::int64_t state_groups = 0;
  std::int64_t encoder_groups = 0;
  std::int64_t fixed_blocks = 0;      // a request holds whatever its length: states, an encoder's keys and values
  double bytes_per_token = 0;         // all layers of the rank, while inside every window
  double bytes_beyond_window = 0;     // of the layers that keep every token
  double bytes_per_request = 0;       // whatever its length, without padding to blocks
  double pooled_state_bytes = 0;      // of a request's states where they have a pool of their own, else 0
  std::vector<engine::KvKind> kinds;  // of groups that share one pool; empty: every layer keeps every token
  std::int64_t groups() const { return full_groups + windowed_groups + state_groups + encoder_groups; }
};

// What an engine does about layers that differ.
struct KvRules {
  bool hybrid_groups = false;       // one pool, groups by kind
  bool prefix_caching = false;      // states are kept at a block's edge, too: two blocks a request instead of one
  std::int32_t decode_context = 1;  // ranks over which tokens are interleaved: each holds every decode_context-th one
  std::int32_t row_multiple = 1;    // bytes that a token's row of a latent cache is padded to
  std::int64_t draft_bytes = 0;     // of a token in the layers of a draft model, which keep every token
};

// Why pages of the model's kinds of layers cannot share a pool, or nothing. Requires: kv_format_problem() is empty.
std::optional<std::string> layout_problem(const model::Architecture& m, precision::Format kv, std::int32_t tensor,
                                          const KvRules& rules);

// Requires: layout_problem() is empty.
KvLayout kv_layout(const model::Architecture& m, precision::Format kv, std::int32_t tensor, std::int32_t block_size,
                   const KvRules& rules);

// Blocks a decoding request of that many tokens holds: those before its window, or chunk, are freed, and of a state one
// is left.
std::int64_t blocks_held(const KvLayout& layout, std::int64_t tokens);
// Most blocks a request of that many tokens may hold while up to `in_flight` of them are computed in one step, as the
// engine's start-up check counts them.
std::int64_t blocks_of(const KvLayout& layout, std::int64_t tokens, std::int64_t in_flight);

}  // namespace servecast::scenario
