#include "scenario/group_setup.hpp"

#include "core/units.hpp"

namespace servecast::scenario {
namespace {

std::int32_t sequences_of(const workload::WorkloadConfig& w) { return w.beam ? w.beam->width : w.samples.value_or(1); }

}  // namespace

void check_groups(const Resolved& r, core::Problems& problems) {
  const workload::WorkloadConfig& w = r.scenario.workload;
  const std::string& key = r.sequences_place;
  const std::int32_t sequences = sequences_of(w);
  for (std::size_t i = 0; i < r.pools.size(); ++i) {
    const Scheduler scheduler = r.pools[i].stack.scheduler;
    if (scheduler != Scheduler::VllmV0) {
      if (sequences > 1)
        problems.add(key,
                     "{} a request are not in this version of servecast for the scheduler {} of {}; use a stack of the "
                     "scheduler vllm-v0, vllm-0.6 or vllm-0.7",
                     core::counted(sequences, "sequence"), names_of(scheduler)[static_cast<std::size_t>(scheduler)],
                     r.pools[i].stack.name);
      continue;
    }
    const engine::Settings& s = r.scenario.pools[i].engine;
    if (sequences > *s.max_num_seqs)
      problems.add(key, "{} a request are more than max_num_seqs {}; raise it", core::counted(sequences, "sequence"),
                   *s.max_num_seqs);
    if (sequences > 1 && *s.preemption_mode == engine::PreemptionMode::Recompute)
      problems.add(r.pools[i].place + "/engine/preemption_mode",
                   "recompute holds for requests of one sequence; use automatic or swap");
    const bool swaps = sequences > 1 || *s.preemption_mode == engine::PreemptionMode::Swap;
    if (swaps && r.gpu.pcie_gb_s <= 0)
      problems.add(r.pools[i].place + "/engine/preemption_mode",
                   "{} states no pcie_gb_s, over which blocks would be swapped; state it in the GPU profile",
                   r.gpu.name);
  }
}

void set_up_groups(const Resolved& r, const FitReport& fit, engine::Config& config) {
  // Ranks that share a GPU share its link.
  const double ranks = cost::ranks_per_gpu(r.scenario.pools[0].device, r.gpu);
  config.host_link.bytes_per_s = r.gpu.pcie_gb_s * 1e9 / ranks;
  // Bytes of a block of the engine's one pool: all layers.
  config.block_bytes = fit.kv.block_bytes * static_cast<double>(fit.kv.groups());
  if (config.steps != engine::StepKind::Groups) return;
  const workload::WorkloadConfig& w = r.scenario.workload;
  config.branching = {sequences_of(w), w.beam.has_value(), w.beam ? w.beam->turnover : 0.0, r.scenario.seed};
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  config.swap_blocks = static_cast<std::int64_t>(*fit.settings.swap_space_gib * gib / config.block_bytes);
  // Derived: a copy reads and writes the block once, at the data sheet's bandwidth.
  if (r.gpu.memory_tb_s > 0) config.block_copy = core::seconds(2 * config.block_bytes / (r.gpu.memory_tb_s * 1e12));
}

}  // namespace servecast::scenario
