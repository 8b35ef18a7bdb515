#include "fidelity/host_fit.hpp"

#include "config/closest.hpp"
#include "config/json_writer.hpp"
#include "core/error.hpp"
#include "core/parallel_for.hpp"
#include "fidelity/predict.hpp"
#include "fidelity/rows.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace servecast::fidelity {
namespace {

constexpr double cut = 0.5;          // of one value's logarithmic error: outliers do not steer
constexpr double tpot_weight = 2.0;  // of times between tokens against times to the first
constexpr double steps[] = {1.6, 1.25, 1.1};
constexpr int rounds = 2;  // at each step size

using Cases = std::vector<Case>;
using ByModel = std::map<std::string, Cases>;

// One constant that the fit may move, by its distance from the value that switches it off.
struct Knob {
  double cost::HostConstants::*value;
  double off;
  double low;  // distances
  double high;
};

std::vector<Knob> knobs_of(const cost::HostConstants& h) {
  using H = cost::HostConstants;
  std::vector<Knob> out = {{&H::small_kernel_us, 0, 0.3, 15},
                           {&H::exposed_per_running_us, 0, 0.1, 60},
                           {&H::prefill_step_ms, 0, 0.1, 30},
                           {&H::frontend_ms, 0, 1, 100}};
  // Two forms of the same cost; a stack has the one that it starts with.
  if (h.prefill_factor > 1) out.push_back({&H::prefill_factor, 1, 0.01, 1});
  if (h.prefill_per_token_us > 0) out.push_back({&H::prefill_per_token_us, 0, 0.1, 20});
  return out;
}

class Fitter {
 public:
  Fitter(const scenario::Stack& stack, const HostFitOptions& options) : stack_(stack), options_(options) {}

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

  // Copies of the cases, predicted with other constants.
  Cases predicted(Cases cases, const cost::HostConstants& host) const {
    scenario::Stack changed = stack_;
    changed.host = host;
    const std::string text = config::write(changed);
    StepTimesCache cache;
    core::parallel_for(cases.size(), options_.threads, [&](std::size_t i) {
      cases[i].scenario->pools[0].stack = {"", text, cases[i].id + ":/pools/0/stack"};
      if (!stopped()) predict(cases[i], cache);
    });
    return cases;
  }

  cost::HostConstants fit(const ByModel& models) const {
    cost::HostConstants best = stack_.host;
    double least = loss(models, best);
    for (const double step : steps)
      for (int round = 0; round < rounds; ++round)
        if (!sweep(models, step, best, least)) break;
    return best;
  }

 private:
  double loss(const ByModel& models, const cost::HostConstants& host) const {
    double sum = 0;
    for (const auto& [model, cases] : models) {
      double errors = 0;
      double weight = 0;
      for (const Case& c : predicted(cases, host)) {
        for (const Measure& m : c.measures) {
          if (c.fate != Fate::Predicted || !m.predicted || !m.doubt.empty()) continue;
          const double w = m.metric == "tpot_ms" ? tpot_weight : 1.0;
          errors += w * std::min(cut, std::abs(std::log(*m.predicted / m.measured)));
          weight += w;
        }
      }
      if (weight > 0) sum += errors / weight;
    }
    return sum;
  }

  // Moves every constant once by a step up or down where that helps; whether any moved.
  bool sweep(const ByModel& models, double step, cost::HostConstants& best, double& least) const {
    bool moved = false;
    for (const Knob& knob : knobs_of(stack_.host)) {
      const double distance = std::max(best.*knob.value - knob.off, knob.low);
      for (const double factor : {step, 1 / step}) {
        if (stopped()) return false;
        cost::HostConstants tried = best;
        tried.*knob.value = knob.off + std::clamp(distance * factor, knob.low, knob.high);
        const double now = loss(models, tried);
        if (now >= least) continue;
        least = now;
        best = tried;
        moved = true;
        break;
      }
    }
    return moved;
  }

  const scenario::Stack& stack_;
  const HostFitOptions& options_;
};

ByModel sample(const ByModel& all, int most) {
  ByModel out;
  for (const auto& [model, cases] : all) {
    const std::size_t n = std::min(cases.size(), static_cast<std::size_t>(most));
    for (std::size_t i = 0; i < n; ++i) out[model].push_back(cases[i * cases.size() / n]);
  }
  return out;
}

ModelErrors errors_of(const std::string& model, const Cases& cases) {
  std::map<std::string, std::vector<Pair>> pairs;
  for (const Case& c : cases)
    for (const Measure& m : c.measures)
      if (c.fate == Fate::Predicted && m.predicted && m.doubt.empty())
        pairs[m.metric].push_back({*m.predicted, m.measured});
  return {model, accuracy_of(pairs["tpot_ms"]), accuracy_of(pairs["ttft_ms"])};
}

bool scored(const Case& c) {
  return c.fate == Fate::Predicted &&
         std::any_of(c.measures.begin(), c.measures.end(), [](const Measure& m) { return m.doubt.empty(); });
}

ByModel cases_by_model(const CsvTable& table, const std::string& place, const std::string& stack,
                       const std::vector<scenario::Stack>& stacks) {
  const Kind kind = kind_of(table, place);
  if (kind != Kind::ServingClosedLoop)
    throw core::InputError(place,
                           "host constants are fitted to closed-loop rows: columns ttft_ms, tpot_ms, concurrency");
  ByModel out;
  for (Case& c : cases_of(table, kind, {stacks, true}))
    if (c.stack == stack && scored(c)) out[c.model].push_back(std::move(c));
  if (out.empty()) throw core::InputError(place, fmt::format("no row is predicted by the stack {}", stack));
  return out;
}

// Drops the cases that turn out to be refused, and models of which none is left.
void predict_as_built_in(const Fitter& fitter, ByModel& all, HostFit& out) {
  for (auto model = all.begin(); model != all.end();) {
    Cases predicted = fitter.predicted(model->second, out.before);
    Cases kept;
    for (std::size_t i = 0; i < predicted.size(); ++i)
      if (predicted[i].fate == Fate::Predicted) kept.push_back(std::move(model->second[i]));
    if (!kept.empty()) out.errors_before.push_back(errors_of(model->first, predicted));
    model->second = std::move(kept);
    model = model->second.empty() ? all.erase(model) : std::next(model);
  }
}

void leave_one_out(const Fitter& fitter, const ByModel& all, const ByModel& few, const HostFitOptions& options,
                   HostFit& out) {
  for (const auto& [model, cases] : all) {
    if (all.size() < 2 || fitter.stopped()) return;
    if (options.progress) options.progress("without " + model);
    ByModel others = few;
    others.erase(model);
    out.errors_left_out.push_back(errors_of(model, fitter.predicted(cases, fitter.fit(others))));
  }
}

}  // namespace

HostFit fit_host(const CsvTable& table, const std::string& place, const std::string& stack,
                 const HostFitOptions& options) {
  const std::vector<scenario::Stack> stacks = scenario::built_in_stacks();
  const auto own =
      std::find_if(stacks.begin(), stacks.end(), [&](const scenario::Stack& s) { return s.name == stack; });
  if (own == stacks.end())
    throw core::InputError("--stack", fmt::format("no stack is named {}{}", stack,
                                                  config::hint(stack, scenario::names(scenario::Kind::Stack))));
  ByModel all = cases_by_model(table, place, stack, stacks);
  const Fitter fitter(*own, options);
  HostFit out;
  out.stack = stack;
  out.before = own->host;
  if (options.progress) options.progress("built-in constants");
  predict_as_built_in(fitter, all, out);
  if (all.empty()) throw core::InputError(place, fmt::format("no row can be predicted by the stack {}", stack));
  const ByModel few = sample(all, options.rows_per_model);
  if (options.progress) options.progress("all models");
  out.after = fitter.fit(few);
  for (const auto& [model, cases] : all)
    out.errors_after.push_back(errors_of(model, fitter.predicted(cases, out.after)));
  if (options.leave_one_out) leave_one_out(fitter, all, few, options, out);
  out.interrupted = fitter.stopped();
  return out;
}

std::string host_fit_text(const HostFit& fit) {
  std::string text = fmt::format("{}: host constants on closed-loop rows\n\n  {:<26}{:>10}{:>10}\n", fit.stack,
                                 "constant", "built in", "fitted");
  using H = cost::HostConstants;
  const std::pair<const char*, double H::*> named[] = {
      {"small_kernel_us", &H::small_kernel_us},           {"exposed_per_running_us", &H::exposed_per_running_us},
      {"prefill_step_ms", &H::prefill_step_ms},           {"prefill_factor", &H::prefill_factor},
      {"prefill_per_token_us", &H::prefill_per_token_us}, {"frontend_ms", &H::frontend_ms}};
  for (const auto& [name, value] : named)
    text += fmt::format("  {:<26}{:>10.3g}{:>10.3g}\n", name, fit.before.*value, fit.after.*value);
  const auto table = [&text](const char* title, const std::vector<ModelErrors>& errors) {
    if (errors.empty()) return;
    text += fmt::format("\n  {:<22}{:>6}{:>9}{:>7}{:>8}{:>9}{:>7}{:>8}\n", title, "rows", "TPOT %", "p90", "bias",
                        "TTFT %", "p90", "bias");
    for (const ModelErrors& e : errors)
      text += fmt::format("  {:<22}{:>6}{:>9.1f}{:>7.1f}{:>+8.1f}{:>9.1f}{:>7.1f}{:>+8.1f}\n", e.model.substr(0, 21),
                          e.tpot.count, 100 * e.tpot.median, 100 * e.tpot.p90, 100 * e.tpot.bias, 100 * e.ttft.median,
                          100 * e.ttft.p90, 100 * e.ttft.bias);
  };
  table("built in", fit.errors_before);
  table("fitted", fit.errors_after);
  table("fitted to the others", fit.errors_left_out);
  return text;
}

}  // namespace servecast::fidelity
