// How an engine lays a model's KV cache out in blocks of one pool: groups of layers that share a page size, and the
// blocks a request of a given length holds. Layers with a window form groups of their own where the engine keeps only
// the window (vLLM hybrid KV cache groups); elsewhere every layer keeps every token.
#pragma once

#include "model/architecture.hpp"
#include "precision/format.hpp"

#include <cstdint>

namespace servecast::scenario {

struct KvLayout {
  std::int32_t block_size = 16;  // tokens
  double block_bytes = 0;        // of one block: the layers of one group
  std::int64_t full_groups = 1;  // groups whose layers keep every token
  std::int64_t windowed_groups = 0;
  std::int64_t window = 0;  // tokens
  bool window_is_chunk = false;
  double bytes_per_token = 0;  // all layers of the rank, while inside every window
  std::int64_t groups() const { return full_groups + windowed_groups; }
};

KvLayout kv_layout(const model::Architecture& m, precision::Format kv, std::int32_t tensor, std::int32_t block_size,
                   bool hybrid_groups);

// Blocks a decoding request of that many tokens holds: those before its window, or chunk, are freed.
std::int64_t blocks_held(const KvLayout& layout, std::int64_t tokens);
// Most blocks a request of that many tokens may hold while up to `in_flight` of them are computed in one step, as the
// engine's start-up check counts them.
std::int64_t blocks_of(const KvLayout& layout, std::int64_t tokens, std::int64_t in_flight);

}  // namespace servecast::scenario
