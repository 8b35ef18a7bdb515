// `run`: simulate, print the answer, write the files.
#include "scenario/run.hpp"

#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/targets.hpp"
#include "cli/verbs.hpp"
#include "core/time.hpp"
#include "report/csv.hpp"
#include "report/output_folder.hpp"
#include "report/result_json.hpp"
#include "report/summary.hpp"
#include "scenario/build.hpp"
#include "scenario/inputs.hpp"

#include <cstdlib>
#include <optional>
#include <unistd.h>

namespace servecast::cli {

namespace {

scenario::RunOutcome simulate(const scenario::Resolved& resolved, bool files) {
  watch_signals();
  Progress progress;
  scenario::RunOptions options;
  options.progress = [&progress](const scenario::RunProgress& p) {
    progress.show(p.finished, p.total, core::to_seconds(p.now));
  };
  options.stop = &interrupted();
  options.keep_rows = files;
  options.timeline = files;
  scenario::RunOutcome outcome = scenario::run(resolved, options);
  outcome.result.tool_version = SERVECAST_VERSION;
  outcome.result.inputs = scenario::inputs_of(resolved);
  return outcome;
}

void write_files(report::OutputFolder& folder, const scenario::RunOutcome& outcome, const std::string& json) {
  if (outcome.log != nullptr) {
    report::write_requests_csv(folder.create("requests.csv"), *outcome.log, outcome.client_overhead);
    report::write_timeline_csv(folder.create("timeline.csv"), outcome.timeline);
  }
  folder.write("result.json", json);
  folder.commit();
}

report::Colour colour_of_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool wanted = isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  return wanted ? report::Colour::On : report::Colour::Off;
}

int exit_code(const scenario::RunOutcome& outcome, const std::vector<std::string>& failures) {
  for (const std::string& failure : failures) warn(failure);
  if (outcome.interrupted) {
    warn("interrupted: the result covers the simulated part only");
    return interrupted_exit();
  }
  if (outcome.log == nullptr) return exit_infeasible;
  return failures.empty() ? exit_done : exit_failed;
}

}  // namespace

int run(const Common& options) {
  const scenario::Resolved resolved = scenario::resolve({options.scenario, options.sets, options.seed});
  check_thresholds(resolved);
  std::optional<report::OutputFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out).begin(scenario::resolved_json(resolved));
  const scenario::RunOutcome outcome = simulate(resolved, folder.has_value());
  const std::string json = report::result_json(outcome.result);
  std::exception_ptr unsaved;
  if (folder) unsaved = saved([&] { write_files(*folder, outcome, json); });
  print(options.json ? json : report::summary(outcome.result, colour_of_stdout()));
  std::vector<std::string> failures;
  if (outcome.log != nullptr) {
    failures = missed_targets(outcome.targets, resolved.scenario.slo.percentile);
    for (std::string& failure : failed_thresholds(resolved.scenario.thresholds, json))
      failures.push_back(std::move(failure));
  }
  const int code = exit_code(outcome, failures);
  if (unsaved) std::rethrow_exception(unsaved);
  return code;
}

}  // namespace servecast::cli
