// `validate`: predicts every measured row of a file and reports how far off the predictions are.
#include "fidelity/validate.hpp"

#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/verbs.hpp"

namespace servecast::cli {

int validate(const ValidateOptions& options) {
  fidelity::ValidateOptions how;
  for (const std::string& text : options.limits) how.limits.push_back(fidelity::error_limit(text));
  if (options.scenario_of > 0) {
    print(fidelity::scenario_of_line(options.file, options.scenario_of, !options.plain_clients) + "\n");
    return exit_done;
  }
  watch_signals();
  Progress progress;
  how.threads = options.threads;
  how.series_clients = !options.plain_clients;
  how.stop = &interrupted();
  how.progress = [&progress](std::size_t done, std::size_t total) { progress.show(done, total, 0); };
  const fidelity::Validation v = fidelity::validate_file(options.file, how);
  const auto rows = static_cast<std::size_t>(options.rows);
  print(options.json       ? fidelity::validation_json(v)
        : options.markdown ? fidelity::validation_markdown(v, rows)
                           : fidelity::validation_text(v, rows));
  if (v.interrupted) return interrupted_exit();
  const std::vector<std::string> failures = fidelity::exceeded(v, how.limits);
  for (const std::string& failure : failures) warn(failure);
  return failures.empty() ? exit_done : exit_failed;
}

}  // namespace servecast::cli
