#include "cost/kernels/fitted.hpp"

#include "config/fields.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::cost::kernels {

namespace {

constexpr double default_error = 0.3;  // assumed: of a fit that was never cross-validated

void describe_key(config::Fields& f, Key& k) {
  f.required("family", k.family, "kernel family");
  f.field("type", k.type, "format of the weights, of attention arithmetic or of a module's projections");
  f.field("kv", k.kv, "format of the KV cache");
  f.field("variant", k.variant, "which measurements of the family");
  f.field("kernel", k.kernel, "source of the kernel where the family has several");
}

void describe_measured(config::Fields& f, Fit& fit) {
  const auto names = info(fit.key.family).features;
  if (fit.measured.size() != names.size()) fit.measured.resize(names.size());
  f.on_object({"measured", "least and largest value of each feature", true}, [&](config::Fields& inner) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      Bounds& b = fit.measured[i];
      inner.on_list({names[i], "least and largest", true},
                    {[] { return std::size_t{2}; }, [](std::size_t) {},
                     [&b](std::size_t j, config::Fields& end) {
                       if (j < 2) end.on_number({"", "", false}, j == 0 ? b.min : b.max, config::Range{});
                     }});
    }
  });
}

void describe_physics(config::Fields& f, Fit& fit) {
  const auto parameters = info(fit.key.family).parameters;
  const auto one = [parameters](config::Fields& inner, Theta& theta) {
    inner.field("head_dim", theta.head_dim, config::closed(0, 4096), "head size they hold for; 0: all");
    for (std::size_t k = 0; k < parameters.size(); ++k)
      inner.required(parameters[k].name, theta.values[k], config::above(0), "fitted");
  };
  f.on_list({"physics", "parameters of the physics", true},
            {[&fit] { return fit.physics.size(); }, [&fit](std::size_t n) { fit.physics.resize(n); },
             [&fit, one](std::size_t i, config::Fields& inner) {
               inner.on_object({"", "", false}, [&](config::Fields& object) { one(object, fit.physics[i]); });
             }});
}

// Surfaces must be those the family's coordinates mean. GEMMs may lack the one of unaligned rows.
void check_surfaces(config::Fields& f, const Fit& fit) {
  const auto expected = surface_axes(fit.key, {1}, true);
  const bool optional = fit.key.family == Family::Gemm && fit.surfaces.size() == 1;
  if (fit.surfaces.size() != expected.size() && !optional)
    return f.problem("surfaces", fmt::format("{} surfaces; fits of this family and variant have {}",
                                             fit.surfaces.size(), expected.size()));
  for (std::size_t i = 0; i < fit.surfaces.size(); ++i)
    if (fit.surfaces[i].numbers.size() != expected[i].size())
      f.problem("surfaces", fmt::format("surface {} has {} axes; it needs {}", i, fit.surfaces[i].numbers.size(),
                                        expected[i].size()));
}

}  // namespace

void describe(config::Fields& f, Dropped& d) {
  f.required("reason", d.reason, "why rows were dropped");
  f.required("rows", d.rows, config::closed(0, 1e12), "how many");
}

void describe(config::Fields& f, Score& s) {
  f.field("rows", s.rows, config::closed(0, 1e12), "rows scored");
  f.field("median", s.median, config::closed(0, 1e6), "median of |predicted / measured - 1|");
  f.field("p90", s.p90, config::closed(0, 1e6), "90th percentile of the same");
}

void describe(config::Fields& f, Fit& fit) {
  describe_key(f, fit.key);
  f.field("rows", fit.rows, config::closed(0, 1e12), "rows fitted, duplicates averaged");
  f.field("in_sample", fit.in_sample, "error on the rows of the fit");
  f.field("cross_validated", fit.cross_validated, "error on whole key groups left out of the fit");
  f.field("sound_tactics", fit.sound_tactics, "the same without the rows of slow_curves");
  f.field("left_out", fit.left_out, "rows left out of the fit");
  f.field("slow_curves", fit.slow_curves, "MoE curves on a slow tactic, by shape: median of measured / predicted");
  describe_measured(f, fit);
  describe_physics(f, fit);
  f.field("surfaces", fit.surfaces, "residual surfaces");
  if (!f.reading()) return;
  if (fit.physics.empty()) f.problem("physics", "no parameters; a fit has at least one set");
  check_surfaces(f, fit);
}

FittedKernel::FittedKernel(const Fit& fit, const Machine& machine)
    : key_(fit.key),
      context_(context(fit.key, machine)),
      rows_(fit.rows),
      error_(fit.cross_validated.rows > 0 ? fit.cross_validated.p90 : default_error),
      measured_(fit.measured),
      thetas_(fit.physics) {
  SERVECAST_ENSURE(!thetas_.empty(), "a fit of {} has no parameters", names_of(Family{})[std::size_t(key_.family)]);
  for (const SurfaceData& s : fit.surfaces) surfaces_.emplace_back(s);
}

// Of the nearest measured head size, by ratio.
const Parameters& FittedKernel::theta(double head_dim) const {
  const Theta* best = &thetas_.front();
  for (const Theta& t : thetas_) {
    if (t.head_dim == head_dim) return t.values;
    if (std::abs(std::log2(t.head_dim / head_dim)) < std::abs(std::log2(best->head_dim / head_dim))) best = &t;
  }
  return best->values;
}

Physics FittedKernel::physics(const Features& x, bool cold) const {
  const std::size_t head_dim = head_dim_feature(key_.family);
  return kernels::physics(context_, head_dim < max_features ? theta(x[head_dim]) : thetas_.front().values, x, cold);
}

double FittedKernel::correction(const Features& x) const {
  double sum = 0;
  Coordinates at{};
  for (std::size_t term = 0; term < surfaces_.size(); ++term)
    if (coordinates(context_, term, x, at)) sum += surfaces_[term].at(at);
  return std::exp(sum);
}

double FittedKernel::us(const Features& x, bool cold) const { return physics(x, cold).us * correction(x); }

bool FittedKernel::inside(const Features& x) const {
  for (std::size_t i = 0; i < measured_.size(); ++i)
    if (x[i] < measured_[i].min || x[i] > measured_[i].max) return false;
  const std::size_t head_dim = head_dim_feature(key_.family);
  return head_dim == max_features ||
         std::any_of(thetas_.begin(), thetas_.end(), [&](const Theta& t) { return t.head_dim == x[head_dim]; });
}

}  // namespace servecast::cost::kernels
