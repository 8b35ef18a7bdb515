#include "scenario/precision_report.hpp"

#include "core/time.hpp"
#include "model/footprint.hpp"
#include "scenario/step_times.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::scenario {
namespace {

using precision::Format;

constexpr std::int32_t step_sequences = 64;
constexpr double default_context = 1024;  // where only running tells the lengths

double weight_bytes(const Resolved& r, std::size_t pool) {
  return static_cast<double>(fit(fit_input(r, pool)).weights.total());
}

double step_us(const Resolved& r, std::size_t pool) {
  std::vector<std::string> ignored;
  const cost::StepModel model = step_model(r, pool, ignored);
  const cost::StepModelInput& in = model.input();
  const double mean = mean_request_tokens(r.scenario.workload);
  const auto context =
      static_cast<std::int32_t>(std::min<double>(in.max_model_len, std::ceil(mean > 0 ? mean : default_context)));
  const std::int32_t window = model.attention().window;
  cost::StepShape s;
  s.decode_requests = s.sampled_rows = std::min({step_sequences, in.max_num_seqs, in.max_num_batched_tokens});
  s.decode_context = std::int64_t{s.decode_requests} * context;
  s.decode_context_windowed = std::int64_t{s.decode_requests} * (window > 0 ? std::min(window, context) : context);
  return core::to_seconds(model.step(s).total) * 1e6;
}

metrics::PrecisionVariant variant(const Resolved& r, std::size_t pool, bool speed) {
  metrics::PrecisionVariant v;
  v.weights_bytes = weight_bytes(r, pool);
  if (speed) v.decode_step_us = step_us(r, pool);
  return v;
}

}  // namespace

std::optional<metrics::PrecisionUse> precision_use(const Resolved& r, std::size_t pool, bool speed) {
  const std::optional<PrecisionChoice>& choice = r.pools[pool].precision;
  if (!choice) return std::nullopt;
  metrics::PrecisionUse out;
  out.policy = "dynamic";
  out.quality_floor_db = choice->floor_db;
  out.statistics = choice->source;
  out.assumed = choice->assumed;
  for (const BlockChoice& b : choice->blocks)
    out.blocks.push_back({b.first, b.count, std::string(precision::name(b.format)), b.quality_db});
  out.chosen = variant(r, pool, speed);
  for (const Format format : choice->candidates) {
    Resolved other = r;
    std::vector<Format>& blocks = other.pools[pool].formats.feed_forward;
    std::fill(blocks.begin(), blocks.end(), format);
    metrics::PrecisionVariant v = variant(other, pool, speed);
    v.format = precision::name(format);
    out.uniform.push_back(v);
  }
  return out;
}

}  // namespace servecast::scenario
