// Where a run's step times came from: the operators of its two mean steps, one of decoders alone and one with a chunk
// of a prompt, weighted by how often each ran. An estimate: shares move little with the size of a step.
#pragma once

#include "cost/roofline.hpp"
#include "engine/replica.hpp"
#include "metrics/result.hpp"

#include <cstdint>

namespace servecast::scenario {

// Means over a finished run's requests; prompt: tokens that were computed, cached prefixes left out.
struct MeanTokens {
  double prompt = 0;
  double context = 0;  // of a decoding sequence
};

// Requires: totals.steps > 0.
metrics::OriginShares origin_shares(const cost::StepModel& model, const engine::Totals& totals, const MeanTokens& mean);

}  // namespace servecast::scenario
