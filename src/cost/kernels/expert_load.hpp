// How routed tokens spread over experts in a benchmark row: the busiest expert-parallel rank's rows and active experts.
// The sampling law of skewed rows is an assumption about the benchmark (it fits the timings, the data do not state it):
// expert weights follow a power law cut at 0.8 tokens, ranks are random groups, the one with most rows counts.
// Deterministic: five fixed streams, averaged.
#pragma once

namespace servecast::cost::kernels {

struct ExpertLoad {
  double rows = 0;         // token copies on the busiest rank
  double active = 0;       // experts there with at least one
  double rows_by_16 = 0;   // rows, each expert's rounded up to 16
  double rows_by_64 = 0;   // the same to 64
};

// alpha 0: balanced. Requires: tokens, experts, top_k, ep >= 1; ep divides experts.
ExpertLoad expert_load(double tokens, double experts, double top_k, double ep, double alpha);

}  // namespace servecast::cost::kernels
