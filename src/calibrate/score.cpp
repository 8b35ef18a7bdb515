#include "calibrate/score.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace servecast::calibrate {

namespace {

using cost::kernels::Family;

double percentile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  if (i + 1 == sorted.size()) return sorted.back();
  return sorted[i] + (at - static_cast<double>(i)) * (sorted[i + 1] - sorted[i]);
}

ScoreLine line_of(const Key& key, std::string size, bool inside, const std::vector<double>& ratios) {
  ScoreLine out{key, std::move(size), inside, {}, 0};
  std::vector<double> errors;
  for (const double r : ratios) errors.push_back(std::abs(r - 1));
  out.score = score_of(std::move(errors));
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  out.bias = percentile(sorted, 0.5) - 1;
  return out;
}

}  // namespace

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return scale >= 1 ? std::round(value * scale) / scale : std::round(value * scale) * std::round(1 / scale);
}

Score score_of(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  return {static_cast<std::int64_t>(errors.size()), rounded(percentile(errors, 0.5), 3),
          rounded(percentile(errors, 0.9), 3)};
}

std::string size_class(const Key& key, const Features& x) {
  switch (key.family) {
    case Family::Gemm:
      return x[0] <= 16 ? "m 1-16" : x[0] <= 128 ? "m 17-128" : x[0] <= 1024 ? "m 129-1024" : "m > 1024";
    case Family::Decode: {
      const double length = x[5] > 0 ? std::min(x[4], x[5]) : x[4];
      const double mb = 2 * x[0] * x[2] * length * x[3] * (key.kv == cost::kernels::DataType::Bf16 ? 2 : 1) / 1e6;
      return mb < 30 ? "KV < 30 MB" : mb < 300 ? "KV 30-300 MB" : "KV > 300 MB";
    }
    case Family::Prefill:
    case Family::MlaPrefill: return x[1] <= 128 ? "S 1-128" : x[1] <= 1024 ? "S 129-1024" : "S > 1024";
    case Family::MlaDecode: return x[0] <= 16 ? "batch 1-16" : "batch > 16";
    default: return x[0] <= 64 ? "T 1-64" : x[0] <= 1024 ? "T 65-1024" : "T > 1024";
  }
}

std::vector<ScoreLine> score_lines(const KeyRows& rows, const std::vector<double>& predicted,
                                   const std::vector<char>& inside) {
  std::map<std::pair<bool, std::string>, std::vector<double>> ratios;  // outside first in the key: false sorts first
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    if (!(predicted[i] > 0)) continue;
    const Observation& r = rows.rows[i];
    const bool outside = inside[i] == 0;
    ratios[{outside, ""}].push_back(predicted[i] / r.us);
    ratios[{outside, size_class(rows.key, r.x)}].push_back(predicted[i] / r.us);
  }
  std::vector<ScoreLine> out;
  for (const auto& [what, values] : ratios) out.push_back(line_of(rows.key, what.second, !what.first, values));
  return out;
}

}  // namespace servecast::calibrate
