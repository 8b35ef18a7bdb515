// The blocks of a model, equal halves counted together: what parameter counts, memory and operators loop over, whether
// a model states an order of blocks or only counts. A block has a mixer (attention, a state, nothing) and a feed
// forward (dense, experts, nothing).
#pragma once

#include "model/architecture.hpp"

#include <cstdint>
#include <vector>

namespace servecast::model {

// Blocks of one pipeline stage: [first, first + count). count < 0: to the end.
struct LayerRange {
  std::int32_t first = 0;
  std::int32_t count = -1;
};

struct AttentionBlocks {
  const Attention* attention = nullptr;  // of the architecture that was asked
  std::int32_t count = 0;
  std::int32_t windowed = 0;  // of these; where only counts are stated, of the whole model whatever the range
  bool cross = false;         // over an encoder's keys and values
};

struct DenseBlocks {
  std::int32_t width = 0;
  std::int32_t count = 0;
};

struct Blocks {
  std::vector<AttentionBlocks> attention;  // in order of first appearance
  std::int32_t state = 0;
  std::vector<DenseBlocks> dense;
  std::int32_t experts = 0;
  std::int32_t norms = 0;  // of the residual stream, the final one not among them

  std::int32_t mixers() const;
  std::int32_t feed_forwards() const;
};

// a must outlive the result. Requires: check() finds nothing.
Blocks blocks_of(const Architecture& a, const LayerRange& range = {});

// Adds to the group of the same width, or a new one.
void add_dense(std::vector<DenseBlocks>& groups, const DenseBlocks& more);

std::int32_t layers_in(const Architecture& a, const LayerRange& range);
// MoE blocks inside a range.
std::int32_t moe_layers_in(const Architecture& a, const LayerRange& range);

// The kind of one block, or nullptr where the model states no order or the letter is unknown.
const BlockKind* kind_of(const Architecture& a, std::int32_t layer);
const Attention& attention_of(const Architecture& a, const BlockKind& kind);

}  // namespace servecast::model
