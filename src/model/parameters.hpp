// Parameter counts of a model, exact integers: what the architecture implies, never what was published. Multi-token
// prediction layers and vision towers are not counted. "Active" is what one token uses: top_k experts, the shared ones,
// and both embeddings in full.
#pragma once

#include "model/architecture.hpp"

#include <cstdint>

namespace servecast::model {

// Parameters of one block's parts, and of the parts outside the blocks. Where blocks differ, attention and dense_mlp
// are those of a block that states none of its own.
struct ParameterParts {
  std::int64_t attention = 0;  // of one block, its inner norms and biases included
  std::int64_t norms = 0;      // of one block, on the residual stream
  std::int64_t dense_mlp = 0;  // of one dense block
  std::int64_t expert = 0;     // one routed expert
  std::int64_t router = 0;     // of one MoE block
  std::int64_t shared = 0;     // shared experts of one MoE block, with their gate and the latent projections
  std::int64_t final_norm = 0;
  std::int64_t embedding = 0;  // token and learned-position tables
  std::int64_t lm_head = 0;    // 0 when tied
};

struct Parameters {
  std::int64_t total = 0;
  std::int64_t active = 0;
  std::int64_t active_without_embedding = 0;  // input tables left out; a tied LM head is one of them
};

ParameterParts parameter_parts(const Architecture& a);
Parameters count_parameters(const Architecture& a);

}  // namespace servecast::model
