#include "microbench/host/routing.hpp"

#include "cost/kernels/expert_load.hpp"

#include <cstddef>

namespace servecast::microbench {

namespace {

// Copies of each expert, at most one per token, tokens x top_k in all.
std::vector<std::int64_t> counts_of(const Experts& p) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(p.experts));
  if (p.alpha == 0) {
    for (std::int64_t copy = 0; copy < p.tokens * p.top_k; ++copy) ++counts[static_cast<std::size_t>(copy % p.experts)];
    return counts;
  }
  const auto drawn = cost::kernels::expert_counts(1, static_cast<double>(p.tokens), static_cast<double>(p.experts),
                                                  static_cast<double>(p.top_k), p.alpha);
  for (std::size_t e = 0; e < counts.size(); ++e) counts[e] = static_cast<std::int64_t>(drawn[e]);
  return counts;
}

// First expert of the rank with most copies; ranks hold contiguous experts.
std::int64_t busiest_first(const std::vector<std::int64_t>& counts, std::int64_t local) {
  std::int64_t best = 0, most = -1;
  for (std::size_t first = 0; first < counts.size(); first += static_cast<std::size_t>(local)) {
    std::int64_t rows = 0;
    for (std::size_t e = 0; e < static_cast<std::size_t>(local); ++e) rows += counts[first + e];
    if (rows > most) most = rows, best = static_cast<std::int64_t>(first);
  }
  return best;
}

}  // namespace

Routing route(const Experts& p) {
  const std::vector<std::int64_t> counts = counts_of(p);
  Routing r;
  r.local_experts = p.experts / p.ep;
  const std::int64_t first = busiest_first(counts, r.local_experts);
  r.expert.assign(static_cast<std::size_t>(p.tokens * p.top_k), -1);
  // Experts one after another deal their copies to tokens in turn: no expert has more copies than there are tokens, so
  // no token gets an expert twice, and every token gets top_k.
  std::int64_t copy = 0;
  for (std::int64_t e = 0; e < p.experts; ++e) {
    for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(e)]; ++i, ++copy) {
      if (e < first || e >= first + r.local_experts) continue;
      const std::int64_t token = copy % p.tokens, slot = copy / p.tokens;
      r.expert[static_cast<std::size_t>(token * p.top_k + slot)] = static_cast<std::int32_t>(e - first);
      ++r.rows;
    }
  }
  return r;
}

}  // namespace servecast::microbench
