#include "scenario/group_setup.hpp"

#include "core/units.hpp"

namespace servecast::scenario {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::int32_t sequences_of(const workload::WorkloadConfig& w) { return w.beam ? w.beam->width : w.samples.value_or(1); }

// Engines without beams in their scheduler, and why.
std::string_view no_beams(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::VllmV1: return "vLLM v1 has none in its engine: its API emulates one above it, request by request";
    case Scheduler::Sglang: return "SGLang has none in its engine";
    case Scheduler::Trtllm:
      return "TensorRT-LLM's (beams over shared prompt blocks) is not in this version of servecast";
    case Scheduler::VllmV0: break;
  }
  return "";
}

// Rules of vLLM v0's groups of sequences.
void check_group(const Resolved& r, std::size_t pool, std::int32_t sequences, core::Problems& problems) {
  const engine::Settings& s = r.scenario.pools[pool].engine;
  const std::string mode = r.pools[pool].place + "/engine/preemption_mode";
  if (sequences > *s.max_num_seqs)
    problems.add(r.sequences_place, "{} a request are more than max_num_seqs {}; raise it",
                 core::counted(sequences, "sequence"), *s.max_num_seqs);
  if (sequences > 1 && *s.preemption_mode == engine::PreemptionMode::Recompute)
    problems.add(mode, "recompute holds for requests of one sequence; use automatic or swap");
  const bool swaps = sequences > 1 || *s.preemption_mode == engine::PreemptionMode::Swap;
  if (swaps && r.gpu.pcie_gb_s <= 0)
    problems.add(mode, "{} states no pcie_gb_s, over which blocks would be swapped; state it in the GPU profile",
                 r.gpu.name);
}

}  // namespace

void check_groups(const Resolved& r, core::Problems& problems) {
  const workload::WorkloadConfig& w = r.scenario.workload;
  for (std::size_t i = 0; i < r.pools.size(); ++i) {
    if (r.scenario.pools[i].engine.kv_offload_gib && r.gpu.pcie_gb_s <= 0)
      problems.add(r.pools[i].place + "/engine/kv_offload_gib",
                   "{} states no pcie_gb_s, over which blocks would move; state it in the GPU profile", r.gpu.name);
    const Stack& stack = r.pools[i].stack;
    if (stack.scheduler == Scheduler::VllmV0)
      check_group(r, i, sequences_of(w), problems);
    else if (w.beam)
      problems.add(r.sequences_place,
                   "no beam search with {}: {}; use a stack of the scheduler vllm-v0 (vllm-0.6, vllm-0.7), or "
                   "/workload/samples for sequences that never meet",
                   stack.name, no_beams(stack.scheduler));
  }
}

void set_up_groups(const Resolved& r, const FitReport& fit, engine::Config& config) {
  config.host_link.bytes_per_s = r.gpu.pcie_gb_s * 1e9;
  // Bytes of a block of the engine's one pool: all layers.
  config.block_bytes = fit.kv.block_bytes * static_cast<double>(fit.kv.groups());
  if (fit.settings.kv_offload_gib)
    config.offload_blocks = static_cast<std::int64_t>(*fit.settings.kv_offload_gib * gib / config.block_bytes);
  if (fit.settings.kv_offload_write) config.offload_write = *fit.settings.kv_offload_write;
  const workload::WorkloadConfig& w = r.scenario.workload;
  if (config.steps != engine::StepKind::Groups) {
    config.samples = sequences_of(w);
    return;
  }
  config.branching = {sequences_of(w), w.beam.has_value(), w.beam ? w.beam->turnover : 0.0, r.scenario.seed};
  config.swap_blocks = static_cast<std::int64_t>(*fit.settings.swap_space_gib * gib / config.block_bytes);
  // Derived: a copy reads and writes the block once, at the data sheet's bandwidth.
  if (r.gpu.memory_tb_s > 0) config.block_copy = core::seconds(2 * config.block_bytes / (r.gpu.memory_tb_s * 1e12));
}

}  // namespace servecast::scenario
