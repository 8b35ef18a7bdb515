// How routed tokens spread over experts in a benchmark row: the busiest expert-parallel rank's rows and active experts.
// Skewed rows follow the law of the benchmark that made the operator tables: expert weights are drawn from a truncated
// power law, rounded to whole token copies, ranks hold contiguous experts, and the rank with most rows counts.
// Deterministic: five fixed streams, averaged.
#pragma once

#include <cstdint>
#include <vector>

namespace servecast::cost::kernels {

struct ExpertLoad {
  double rows = 0;        // token copies on the busiest rank
  double active = 0;      // experts there with at least one
  double rows_by_16 = 0;  // rows, each expert's rounded up to 16
  double rows_by_64 = 0;  // the same to 64
};

// alpha 0: balanced. Requires: tokens, experts, top_k, ep >= 1; ep divides experts.
ExpertLoad expert_load(double tokens, double experts, double top_k, double ep, double alpha);

// Token copies of each expert in one of the draws behind it (seed 1 to 5): whole numbers up to `tokens` each, tokens x
// top_k in all. Requires: alpha > 0 and not 1.
std::vector<double> expert_counts(std::uint64_t seed, double tokens, double experts, double top_k, double alpha);

}  // namespace servecast::cost::kernels
