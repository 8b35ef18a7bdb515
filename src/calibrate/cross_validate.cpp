#include "calibrate/fit.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <map>

namespace servecast::calibrate {

namespace {

using cost::kernels::Family;

constexpr std::size_t folds = 5;
constexpr std::size_t few_groups = 12;  // up to here every group is held out alone

// Groups in ascending order, with the head size of their rows (0: none).
std::map<double, double> groups_of(const KeyRows& rows) {
  const std::size_t feature = cost::kernels::head_dim_feature(rows.key.family);
  std::map<double, double> out;
  for (const Observation& r : rows.rows)
    out.try_emplace(r.group, feature < cost::kernels::max_features ? r.x[feature] : 0);
  return out;
}

// Families whose groups are values of one feature: the least and the largest value cannot be interpolated.
bool ordered_groups(Family f) {
  return f == Family::MlaDecode || f == Family::MlaPrefill || f == Family::MlaBmm || f == Family::Quantise;
}

// Fold of every group; the ends of an ordered feature are never held out, groups of one head size go to different
// folds.
std::map<double, std::size_t> folds_of(const std::map<double, double>& head_dims, Family family) {
  std::map<double, std::size_t> out;
  std::vector<double> groups;
  for (const auto& [group, dim] : head_dims) groups.push_back(group);
  if (ordered_groups(family) && groups.size() > 2) {
    groups.erase(groups.begin());
    groups.pop_back();
  }
  core::Random random(1, "calibrate/folds");
  for (std::size_t i = groups.size(); i > 1; --i) std::swap(groups[i - 1], groups[random.below(i)]);
  std::stable_sort(groups.begin(), groups.end(), [&](double a, double b) { return head_dims.at(a) < head_dims.at(b); });
  const std::size_t count = groups.size() <= few_groups ? groups.size() : folds;
  for (std::size_t i = 0; i < groups.size(); ++i) out[groups[i]] = i % count;
  return out;
}

}  // namespace

std::vector<double> cross_validate(const KeyRows& rows, const Machine& machine) {
  std::vector<double> predicted(rows.rows.size(), 0.0);
  const std::map<double, double> groups = groups_of(rows);
  if (groups.size() < 2) return predicted;
  const std::map<double, std::size_t> fold = folds_of(groups, rows.key.family);
  std::size_t count = 0;
  for (const auto& [group, f] : fold) count = std::max(count, f + 1);
  for (std::size_t held = 0; held < count; ++held) {
    Rows train;
    std::vector<std::size_t> test;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const auto at = fold.find(rows.rows[i].group);
      if (at != fold.end() && at->second == held)
        test.push_back(i);
      else
        train.push_back(&rows.rows[i]);
    }
    if (train.size() < min_rows) continue;
    const cost::kernels::FittedKernel model(fit(rows.key, train, machine), machine);
    for (const std::size_t i : test) predicted[i] = model.us(rows.rows[i].x, false);
  }
  return predicted;
}

}  // namespace servecast::calibrate
