// `compare`: two scenarios under common random numbers, or two stored results.
#include "plan/compare.hpp"

#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "core/error.hpp"
#include "scenario/library.hpp"

#include <optional>

namespace servecast::cli {

namespace {

// The document of a stored result, or nothing for a scenario.
std::optional<config::Document> result_at(const std::string& name) {
  if (!scenario::is_path(name)) return std::nullopt;
  config::Document document = config::Document::load(name);
  if (!plan::is_result(document)) return std::nullopt;
  return document;
}

plan::Comparison compared(const CompareOptions& options) {
  const auto a = result_at(options.a);
  const auto b = result_at(options.b);
  if (a.has_value() != b.has_value())
    throw core::InputError(a ? options.b : options.a,
                           "is a scenario where the other is a result; compare two of a kind");
  if (a) {
    if (!options.sets.empty() || !options.sets_b.empty())
      throw core::InputError("--set", "results cannot be overridden; compare scenarios");
    return plan::compare_results(*a, *b, options.a, options.b);
  }
  std::vector<std::string> sets_b = options.sets;
  sets_b.insert(sets_b.end(), options.sets_b.begin(), options.sets_b.end());
  const scenario::Resolved first = scenario::resolve({options.a, options.sets, {}});
  scenario::Resolved second = scenario::resolve({options.b, sets_b, {}});
  for (std::size_t i = 0; i < options.sets_b.size(); ++i)
    second.scenario.name += (i == 0 ? " with " : ", ") + options.sets_b[i];
  return plan::compare_scenarios(first, second, {options.replications, options.threads, &interrupted()});
}

}  // namespace

int compare(const CompareOptions& options) {
  watch_signals();
  const plan::Comparison c = compared(options);
  print(options.json ? plan::comparison_json(c) : plan::comparison_text(c));
  if (c.interrupted) return interrupted_exit();
  return c.problem.empty() ? exit_done : exit_infeasible;
}

}  // namespace servecast::cli
