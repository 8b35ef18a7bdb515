// Which experts each token of a benchmark row goes to, by the law of the operator tables
// (cost/kernels/expert_load.hpp), and which of a token's copies land on the busiest rank. Deterministic.
#pragma once

#include "microbench/host/points.hpp"

#include <cstdint>
#include <vector>

namespace servecast::microbench {

struct Routing {
  std::int64_t local_experts = 0;
  // Expert of each copy on this rank, [tokens][top_k]; -1: the copy goes to another rank. A token's copies differ.
  std::vector<std::int32_t> expert;
  std::int64_t rows = 0;  // copies on this rank
};

Routing route(const Experts& point);

}  // namespace servecast::microbench
