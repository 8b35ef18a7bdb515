#include "calibrate/fit.hpp"

#include "calibrate/score.hpp"
#include "calibrate/slow_tactics.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "cost/kernels/monotone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::calibrate {

namespace {

using cost::kernels::Family;
using cost::kernels::FittedKernel;
using cost::kernels::KernelProfile;
using cost::kernels::Theta;

constexpr int digits = 4;
constexpr std::size_t rows_per_head_dim = 60;  // below, a head size shares the parameters of all rows

Parameters rounded_parameters(Parameters p) {
  for (double& v : p) v = rounded(v, digits);
  return p;
}

std::vector<double> head_dims(Family family, const Rows& rows) {
  const std::size_t feature = cost::kernels::head_dim_feature(family);
  std::vector<double> out;
  if (feature == cost::kernels::max_features) return out;
  for (const Observation* r : rows) out.push_back(r->x[feature]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Theta> physics_of(const Context& c, const Rows& rows, const std::vector<double>& dims) {
  if (dims.size() < 2) {
    const std::int32_t dim = dims.empty() ? 0 : static_cast<std::int32_t>(dims.front());
    return {{dim, rounded_parameters(fit_physics(c, rows))}};
  }
  const std::size_t feature = cost::kernels::head_dim_feature(c.family);
  std::vector<Theta> out;
  for (const double dim : dims) {
    Rows mine;
    for (const Observation* r : rows)
      if (r->x[feature] == dim) mine.push_back(r);
    const bool few = mine.size() < rows_per_head_dim;
    out.push_back({static_cast<std::int32_t>(dim), rounded_parameters(fit_physics(c, few ? rows : mine))});
  }
  return out;
}

std::vector<cost::kernels::Bounds> bounds_of(Family family, const Rows& rows) {
  std::vector<cost::kernels::Bounds> out(info(family).features.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {rows.front()->x[i], rows.front()->x[i]};
    for (const Observation* r : rows) {
      out[i].min = std::min(out[i].min, rounded(r->x[i], 6));
      out[i].max = std::max(out[i].max, rounded(r->x[i], 6));
    }
  }
  return out;
}

void add_surfaces(Fit& out, const Context& c, const Rows& rows, const Machine& machine,
                  const std::vector<double>& dims) {
  const FittedKernel bare(out, machine);
  std::vector<double> y;
  for (const Observation* r : rows) y.push_back(std::log(r->us / bare.physics(r->x, false).us));
  const bool unaligned =
      out.key.family == Family::Gemm &&
      std::any_of(rows.begin(), rows.end(), [](const Observation* r) { return std::fmod(r->x[0], 4) != 0; });
  out.surfaces = fit_surfaces(c, surface_axes(out.key, dims, unaligned), rows, y, autotuned(out.key));
}

Score in_sample(const Fit& f, const Rows& rows, const Machine& machine) {
  const FittedKernel model(f, machine);
  std::vector<double> errors;
  for (const Observation* r : rows) errors.push_back(std::abs(model.us(r->x, false) / r->us - 1));
  return score_of(std::move(errors));
}

// Curves on a slow tactic as the fit sees them, and the scores with and without them of predictions by fits that did
// not see the rows; none: not scored.
void name_slow_curves(Fit& f, const KeyRows& rows, const Machine& machine, const std::vector<double>& predicted) {
  const FittedKernel model(f, machine);
  std::vector<double> own;
  for (const Observation& r : rows.rows) own.push_back(model.us(r.x, false));
  f.slow_curves = slow_curves(rows, own);
  const std::vector<char> slow = slow_rows(rows, own);
  std::vector<double> all, sound;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (!(predicted[i] > 0)) continue;
    all.push_back(std::abs(predicted[i] / rows.rows[i].us - 1));
    if (slow[i] == 0) sound.push_back(all.back());
  }
  f.cross_validated = score_of(std::move(all));
  if (!f.slow_curves.empty()) f.sound_tactics = score_of(std::move(sound));
}

}  // namespace

Rows all_rows(const KeyRows& rows) {
  Rows out;
  for (const Observation& r : rows.rows) out.push_back(&r);
  return out;
}

Fit fit(const Key& key, const Rows& all, const Machine& machine) {
  SERVECAST_ENSURE(!all.empty(), "no rows to fit");
  const Context c = context(key, machine);
  const std::vector<double> dims = head_dims(key.family, all);
  Rows rows = all;
  Fit out;
  out.key = key;
  out.physics = physics_of(c, rows, dims);
  if (autotuned(key)) {
    const std::int64_t slow = remove_slow_curves(FittedKernel(out, machine), rows);
    if (slow > 0) {
      out.left_out.push_back({"curve on a slow tactic", slow});
      out.physics = physics_of(c, rows, dims);
    }
  }
  add_surfaces(out, c, rows, machine, dims);
  out.rows = static_cast<std::int64_t>(rows.size());
  out.measured = bounds_of(key.family, rows);
  out.in_sample = in_sample(out, rows, machine);
  return out;
}

KernelProfile fit_profile(const Dataset& data, const hardware::Gpu& gpu, const ProfileOptions& options,
                          std::vector<std::string>& warnings) {
  KernelProfile out;
  out.gpu = gpu.name;
  out.architecture = gpu.architecture;
  out.stack = data.stack;
  out.note = options.note;
  out.sources = data.sources;
  out.curves = data.curves;
  const Machine machine = cost::kernels::machine(gpu);
  for (const KeyRows& k : data.keys) {
    if (k.rows.size() < min_rows) {
      warnings.push_back(fmt::format("{} {} {} {}: only {}; not fitted",
                                     names_of(k.key.family)[std::size_t(k.key.family)],
                                     names_of(k.key.type)[std::size_t(k.key.type)], k.key.variant, k.key.kernel,
                                     core::counted(static_cast<std::int64_t>(k.rows.size()), "row")));
      continue;
    }
    Fit f = fit(k.key, all_rows(k), machine);
    name_slow_curves(f, k, machine, options.cross_validate ? cross_validate(k, machine) : std::vector<double>{});
    if (options.monotone && f.key.family == Family::Gemm) make_monotone(f, machine);
    out.fits.push_back(std::move(f));
  }
  return out;
}

}  // namespace servecast::calibrate
