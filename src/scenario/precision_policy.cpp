#include "scenario/precision_policy.hpp"

#include "core/units.hpp"
#include "precision/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace servecast::scenario {
namespace {

using precision::Format;

// The assumed profile. Weights are Gaussian. Inputs are Laplace, and in blocks near the ends some of their channels
// stand out by a factor of 20: a share of 1 % at the ends that falls with the eighth power of the distance from the
// middle. Shape after what is reported of outlier channels of transformers and of training recipes that keep the first
// and last blocks out of FP4; the numbers are assumed.
constexpr double end_share = 0.01;
constexpr double end_factor = 20;
constexpr double least_share = 2e-4;  // below one channel of a usual width: none

std::vector<Format> candidates_of(const hardware::Gpu& gpu) {
  std::vector<Format> out;
  if (gpu.dense.fp4 > 0) out.push_back(Format::Nvfp4);
  if (gpu.dense.fp8 > 0) out.push_back(Format::Fp8);
  out.push_back(Format::BFloat16);
  return out;
}

BlockChoice choice_of(const model::LayerStatistics& l, const PrecisionChoice& p, precision::QualityTable& table) {
  BlockChoice c{l.first, 1, p.candidates.back(), 0, false};
  for (const Format format : p.candidates) {
    c.format = format;
    c.quality_db = std::min(table.at(format, l.weights), table.at(format, l.inputs));
    c.below_floor = c.quality_db < p.floor_db;
    if (!c.below_floor) break;
  }
  return c;
}

void append(std::vector<BlockChoice>& blocks, const BlockChoice& next) {
  if (!blocks.empty() && blocks.back().format == next.format && blocks.back().quality_db == next.quality_db)
    ++blocks.back().count;
  else
    blocks.push_back(next);
}

// By block, in order.
std::vector<model::LayerStatistics> statistics_of(const model::Architecture& m) {
  if (!m.tensor_statistics) return assumed_statistics(m.layers);
  std::vector<model::LayerStatistics> out(static_cast<std::size_t>(m.layers));
  for (const model::LayerStatistics& l : m.tensor_statistics->layers)
    for (std::int32_t i = l.first; i < l.first + l.count; ++i) {
      out[static_cast<std::size_t>(i)] = l;
      out[static_cast<std::size_t>(i)].first = i;
      out[static_cast<std::size_t>(i)].count = 1;
    }
  return out;
}

}  // namespace

std::vector<Format> PrecisionChoice::feed_forward() const {
  std::vector<Format> out;
  for (const BlockChoice& b : blocks) out.insert(out.end(), static_cast<std::size_t>(b.count), b.format);
  return out;
}

std::vector<model::LayerStatistics> assumed_statistics(std::int32_t layers) {
  std::vector<model::LayerStatistics> out;
  for (std::int32_t i = 0; i < layers; ++i) {
    // -1 at the first block, 1 at the last. Products instead of pow: the same everywhere.
    const double x = layers > 1 ? 2.0 * i / (layers - 1.0) - 1.0 : 0.0;
    const double squared = x * x;
    const double share = end_share * squared * squared * squared * squared;
    model::LayerStatistics l;
    l.first = i;
    l.inputs.law = precision::Law::Laplace;
    if (share >= least_share) {
      // Whole ten-thousandths: neighbours and mirrored blocks share what is measured for them.
      l.inputs.outlier_share = std::round(share * 1e4) * 1e-4;
      l.inputs.outlier_factor = end_factor;
    }
    out.push_back(l);
  }
  return out;
}

PrecisionChoice choose_precision(const model::Architecture& m, const hardware::Gpu& gpu, double floor_db) {
  PrecisionChoice p;
  p.floor_db = floor_db;
  p.assumed = !m.tensor_statistics;
  p.source = p.assumed ? "assumed profile" : m.tensor_statistics->source;
  p.candidates = candidates_of(gpu);
  precision::QualityTable table;
  for (const model::LayerStatistics& l : statistics_of(m)) append(p.blocks, choice_of(l, p, table));
  return p;
}

std::string summary(const PrecisionChoice& choice) {
  std::vector<std::pair<Format, std::int64_t>> counts;
  for (const BlockChoice& b : choice.blocks) {
    const auto same = [&b](const auto& c) { return c.first == b.format; };
    const auto at = std::find_if(counts.begin(), counts.end(), same);
    if (at == counts.end())
      counts.emplace_back(b.format, b.count);
    else
      at->second += b.count;
  }
  std::string text;
  for (const auto& [format, count] : counts)
    text += text.empty() ? fmt::format("{} in {}", core::counted(count, "block"), precision::name(format))
                         : fmt::format(", {} in {}", core::count_text(count), precision::name(format));
  return text;
}

}  // namespace servecast::scenario
