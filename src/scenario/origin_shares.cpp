#include "scenario/origin_shares.hpp"

#include "cost/explain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace servecast::scenario {
namespace {

std::int32_t whole(double value, std::int32_t low, std::int32_t high) {
  return static_cast<std::int32_t>(std::lround(std::clamp<double>(value, low, std::max(low, high))));
}

struct MeanSteps {
  cost::StepShape decoders;
  std::int32_t chunk = 0;
  double mixed = 0;  // steps with a chunk
  double plain = 0;
};

MeanSteps mean_steps(const cost::StepModel& model, const engine::Totals& totals, const MeanTokens& mean) {
  const cost::StepModelInput& in = model.input();
  MeanSteps m;
  const double busy = static_cast<double>(totals.busy.ps);
  const std::int32_t most = std::min(in.max_num_seqs, in.max_num_batched_tokens);
  const std::int32_t decoders = whole(busy > 0 ? static_cast<double>(totals.running_time) / busy : 0, 1, most);
  const std::int32_t context = whole(mean.context, 1, in.max_model_len);
  const std::int32_t window = model.attention().window;
  m.decoders.decode_requests = m.decoders.sampled_rows = decoders;
  m.decoders.decode_context = std::int64_t{decoders} * context;
  m.decoders.decode_context_windowed = std::int64_t{decoders} * (window > 0 ? std::min(window, context) : context);
  m.chunk = whole(mean.prompt, 0, std::min(in.max_num_batched_tokens - decoders, in.max_model_len));
  const auto steps = static_cast<double>(totals.steps);
  if (m.chunk > 0) m.mixed = std::min(steps, static_cast<double>(totals.prefill_tokens) / m.chunk);
  m.plain = steps - m.mixed;
  return m;
}

void add(metrics::OriginShares& sum, const cost::Explanation& e, double steps) {
  const cost::TimeOrigins o = cost::origins(e);
  const double weight = core::to_seconds(e.time.total) * steps;
  sum.measured += weight * o.measured;
  sum.derived += weight * o.derived;
  sum.datasheet += weight * o.datasheet;
  sum.assumed += weight * o.constant;
  sum.extrapolated += weight * o.extrapolated;
}

}  // namespace

metrics::OriginShares origin_shares(const cost::StepModel& model, const engine::Totals& totals,
                                    const MeanTokens& mean) {
  const MeanSteps m = mean_steps(model, totals, mean);
  metrics::OriginShares sum;
  if (m.plain > 0) add(sum, cost::explain(model, m.decoders, {}), m.plain);
  if (m.mixed > 0) add(sum, cost::explain(model, m.decoders, {{0, m.chunk}}), m.mixed);
  const double total = sum.measured + sum.derived + sum.datasheet + sum.assumed;
  if (total <= 0) return sum;
  for (double* share : {&sum.measured, &sum.derived, &sum.datasheet, &sum.assumed, &sum.extrapolated}) *share /= total;
  return sum;
}

}  // namespace servecast::scenario
