// CUDA-graph capture sizes of vLLM v1 (SPEC 2.3): a step whose tokens fit a captured size is padded up to it and
// replayed; larger steps run without a graph.
#pragma once

#include <cstdint>
#include <vector>

namespace servecast::cost {

// Ascending. drafts: speculative tokens per sequence.
std::vector<std::int32_t> capture_sizes(std::int32_t max_num_seqs, std::int32_t max_num_batched_tokens,
                                        std::int32_t drafts = 0);

struct Padded {
  std::int32_t tokens = 0;  // that the GPU computes
  bool graph = false;
};

// Requires: sizes ascending. Empty sizes: no graphs.
Padded pad(const std::vector<std::int32_t>& sizes, std::int32_t tokens);

}  // namespace servecast::cost
