#include "scenario/step_times.hpp"

#include "core/units.hpp"
#include "cost/compiled.hpp"
#include "cost/fixed.hpp"
#include "scenario/kernel_tables.hpp"
#include "scenario/precision_report.hpp"

#include <fmt/format.h>

namespace servecast::scenario {
namespace {

void warn_of_choice(const Resolved& r, std::size_t pool, std::vector<std::string>& warnings) {
  const std::optional<PrecisionChoice>& choice = r.pools[pool].precision;
  if (!choice) return;
  if (choice->assumed)
    warnings.push_back(
        fmt::format("formats by block rest on an assumed profile of values: {} states no "
                    "tensor_statistics",
                    r.model.name));
  std::int64_t below = 0;
  for (const BlockChoice& b : choice->blocks) below += b.below_floor ? b.count : 0;
  if (below > 0)
    warnings.push_back(fmt::format("{} keep less than quality_floor_db {:g} even in {}", core::counted(below, "block"),
                                   choice->floor_db, precision::name(choice->candidates.back())));
}

}  // namespace

cost::StepModel step_model(const Resolved& r, std::size_t pool, std::vector<std::string>& warnings) {
  const PoolSetup& setup = r.pools[pool];
  const engine::Settings& s = r.scenario.pools[pool].engine;  // complete after resolve()
  cost::StepModelInput in{
      .architecture = r.model,
      .gpu = r.gpu,
      .fabric = r.fabric,
      .precision = {setup.formats, setup.activations, setup.kv_cache, r.scenario.pools[pool].precision.conversion},
      .parallel = r.scenario.pools[pool].parallel,
      .max_num_batched_tokens = *s.max_num_batched_tokens,
      .max_num_seqs = *s.max_num_seqs,
      .max_model_len = *s.max_model_len,
      .cuda_graphs = *s.cuda_graphs,
      .async_scheduling = *s.async_scheduling,
      .host = setup.stack.host,
      .efficiency = {}};
  core::Problems problems;
  cost::check_step_model(in, problems, setup.place, warnings);
  problems.raise_if_any();
  warn_of_choice(r, pool, warnings);
  if (!setup.stack.kernel_tables) return cost::StepModel(in);
  const LoadedKernels kernels(*setup.stack.kernel_tables, r.gpu, warnings);
  in.kernels = &kernels.tables();
  cost::StepModel model(in);
  if (in.precision.conversion != cost::Conversion::Stack && model.contains_conversion())
    warnings.push_back(
        "measured fp8 multiplications contain the conversion of their inputs: precision/conversion says nothing about "
        "them");
  return model;
}

StepTimes make_step_times(const Resolved& r, std::size_t pool) {
  StepTimes out;
  if (r.scenario.cost.fixed) {
    out.cost = std::make_unique<cost::FixedCost>(*r.scenario.cost.fixed);
    return out;
  }
  out.basis = std::make_unique<const Resolved>(r);
  out.model = std::make_unique<cost::StepModel>(step_model(*out.basis, pool, out.warnings));
  out.cost = std::make_unique<cost::CompiledCost>(*out.model);
  out.precision = precision_use(*out.basis, pool, true);
  out.client_overhead = core::milliseconds(r.pools[pool].stack.host.frontend_ms);
  return out;
}

}  // namespace servecast::scenario
