// `capacity`: the highest rate that meets the targets, or with --gpus the fewest replicas for the rate as it is.
#include "plan/capacity.hpp"

#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/output_folder.hpp"

#include <optional>

namespace servecast::cli {

int capacity(const CapacityOptions& options) {
  const Common& common = options.common;
  const scenario::Resolved r = scenario::resolve({common.scenario, common.sets, common.seed});
  plan::check_answerable(r, common.scenario);
  const scenario::Fits fits = scenario::fit_all(r);
  if (!fits.problem.empty()) {
    warn(fits.problem);
    if (common.json) print(plan::infeasible_json(fits.problem));
    return exit_infeasible;
  }
  std::optional<report::OutputFolder> folder;
  if (!common.out.empty()) folder.emplace(common.out).begin(scenario::resolved_json(r));
  watch_signals();
  const plan::CapacityOptions how{options.tolerance, &interrupted()};
  std::string text;
  std::string json;
  bool found = false;
  bool partial = false;
  if (options.gpus) {
    const plan::Sizing s = plan::find_replicas(r, how);
    text = plan::sizing_text(s);
    json = plan::sizing_json(s);
    found = s.replicas.has_value();
    partial = s.interrupted;
  } else {
    const plan::Capacity c = plan::find_capacity(r, how);
    text = plan::capacity_text(c);
    json = plan::capacity_json(c);
    found = c.factor.low > 0;
    partial = c.interrupted;
  }
  std::exception_ptr unsaved;
  if (folder) unsaved = saved([&] { folder->write("capacity.json", json), folder->commit(); });
  print(common.json ? json : text);
  if (unsaved) std::rethrow_exception(unsaved);
  if (partial) return interrupted_exit();
  return found ? exit_done : exit_infeasible;
}

}  // namespace servecast::cli
