#include "scenario/step_times.hpp"

#include "cost/compiled.hpp"
#include "cost/explain.hpp"
#include "cost/fixed.hpp"
#include "scenario/kernel_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace servecast::scenario {
namespace {

constexpr double most_extrapolated = 0.1;  // share of a step beyond which results carry a warning

constexpr std::int32_t usual_decoders = 64;  // assumed
constexpr double usual_context = 4096;       // assumed, where the workload does not tell

// Two steps stand for a run: decoders at the mean length of a request, without and with one prompt of that length.
void warn_of_extrapolation(const cost::StepModel& model, double tokens, std::vector<std::string>& warnings) {
  const cost::StepModelInput& in = model.input();
  cost::StepShape s;
  s.decode_requests = s.sampled_rows = std::min({usual_decoders, in.max_num_seqs, in.max_num_batched_tokens});
  const double wanted = tokens > 0 ? tokens : usual_context;
  const auto context = static_cast<std::int32_t>(std::clamp<double>(wanted, 1, in.max_model_len));
  const std::int32_t window = model.attention().window;
  s.decode_context = std::int64_t{s.decode_requests} * context;
  s.decode_context_windowed = std::int64_t{s.decode_requests} * (window > 0 ? std::min(window, context) : context);
  const std::int32_t prompt = std::min(in.max_num_batched_tokens - s.decode_requests, context);
  const auto share = [&](const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks) {
    return cost::origins(cost::explain(model, s, chunks)).extrapolated;
  };
  const double decode = share({});
  const double mixed = prompt > 0 ? share({{0, prompt}}) : 0.0;
  if (std::max(decode, mixed) <= most_extrapolated) return;
  warnings.push_back(
      fmt::format("kernel times reach beyond what was measured: {:.0f} % of a step of {} decoders of {} tokens, "
                  "{:.0f} % with a prompt of {}; explain shows which operators",
                  decode * 100, s.decode_requests, context, mixed * 100, prompt));
}

}  // namespace

cost::StepModel step_model(const Resolved& r, std::size_t pool, std::vector<std::string>& warnings) {
  const PoolSetup& setup = r.pools[pool];
  const engine::Settings& s = r.scenario.pools[pool].engine;  // complete after resolve()
  cost::StepModelInput in{.architecture = r.model,
                          .gpu = r.gpu,
                          .fabric = r.fabric,
                          .precision = {setup.formats, setup.activations, setup.kv_cache},
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
  if (!setup.stack.kernel_tables) return cost::StepModel(in);
  const LoadedKernels kernels(*setup.stack.kernel_tables, r.gpu, warnings);
  in.kernels = &kernels.tables();
  cost::StepModel model(in);
  warn_of_extrapolation(model, mean_request_tokens(r.scenario.workload), warnings);
  return model;
}

StepTimes make_step_times(const Resolved& r, std::size_t pool) {
  StepTimes out;
  if (r.scenario.cost.fixed) {
    out.cost = std::make_unique<cost::FixedCost>(*r.scenario.cost.fixed);
    return out;
  }
  out.cost = std::make_unique<cost::CompiledCost>(step_model(r, pool, out.warnings));
  out.client_overhead = core::milliseconds(r.pools[pool].stack.host.frontend_ms);
  return out;
}

}  // namespace servecast::scenario
