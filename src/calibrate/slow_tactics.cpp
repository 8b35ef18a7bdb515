#include "calibrate/slow_tactics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace servecast::calibrate {

namespace {

using cost::kernels::Family;

constexpr double far_above_physics = 1.8;  // no curve of a sound tactic is, whatever the physics cannot express
constexpr double slow_share = 1.5;         // median over the model from which a curve is named
constexpr double weight_scale = 0.1;       // of a curve's median residual, in ln, from which its weight falls

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Medians by curve.
template <class ValueOf>
std::map<double, double> medians(std::size_t rows, const ValueOf& value_of) {
  std::map<double, std::vector<double>> values;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto [curve, value] = value_of(i);
    if (value > -1e9) values[curve].push_back(value);
  }
  std::map<double, double> out;
  for (auto& [curve, v] : values) out[curve] = median(v);
  return out;
}

std::map<double, double> ratios(const KeyRows& rows, const std::vector<double>& predicted) {
  constexpr double none = -1e10;
  return medians(rows.rows.size(), [&](std::size_t i) {
    const Observation& r = rows.rows[i];
    return std::pair(r.curve, predicted[i] > 0 ? r.us / predicted[i] : none);
  });
}

}  // namespace

bool autotuned(const Key& key) { return key.family == Family::Moe && key.kernel.starts_with("moe_torch_flow"); }

std::vector<double> curve_weights(const Rows& rows, const std::vector<double>& residuals) {
  const auto middle = medians(rows.size(), [&](std::size_t i) { return std::pair(rows[i]->curve, residuals[i]); });
  std::vector<double> out;
  for (const Observation* r : rows) {
    const double above = std::max(middle.at(r->curve), 0.0) / weight_scale;
    const double share = 1 / (1 + above * above);
    out.push_back(share * share);
  }
  return out;
}

std::int64_t remove_slow_curves(const cost::kernels::FittedKernel& model, Rows& rows) {
  const auto middle = medians(
      rows.size(), [&](std::size_t i) { return std::pair(rows[i]->curve, rows[i]->us / model.us(rows[i]->x, false)); });
  const std::size_t before = rows.size();
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const Observation* r) { return middle.at(r->curve) > far_above_physics; }),
             rows.end());
  return static_cast<std::int64_t>(before - rows.size());
}

std::vector<char> slow_rows(const KeyRows& rows, const std::vector<double>& predicted) {
  std::vector<char> out(rows.rows.size(), 0);
  if (!autotuned(rows.key)) return out;
  const auto ratio = ratios(rows, predicted);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = ratio.find(rows.rows[i].curve);
    out[i] = at != ratio.end() && at->second > slow_share ? 1 : 0;
  }
  return out;
}

std::vector<std::string> slow_curves(const KeyRows& rows, const std::vector<double>& predicted) {
  if (!autotuned(rows.key)) return {};
  std::map<std::array<double, 5>, std::string> lines;  // hidden, inter, top k, experts, alpha
  std::map<MoeCurve, double> slow;
  for (const auto& [curve, ratio] : ratios(rows, predicted))
    if (const auto at = rows.curves.find(curve); ratio > slow_share && at != rows.curves.end())
      slow[at->second] = ratio;
  for (const auto& [c, ratio] : slow) {
    std::string& line = lines[{c[0], c[1], c[2], c[3], c[6]}];
    if (line.empty())
      line = fmt::format("{} x {}, {} of {}, {}:", c[0], c[1], c[2], c[3],
                         c[6] > 0 ? fmt::format("alpha {}", c[6]) : "balanced");
    line += fmt::format(" tp{} ep{} {:.1f}", c[4], c[5], ratio);
  }
  std::vector<std::string> out;
  for (auto& [shape, line] : lines) out.push_back(std::move(line));
  return out;
}

}  // namespace servecast::calibrate
