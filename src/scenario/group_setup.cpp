#include "scenario/group_setup.hpp"

#include "core/units.hpp"
#include "workload/lengths.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::scenario {
namespace {

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

struct Size {
  std::int64_t prompt = 0, output = 0;  // tokens
};

bool has_end(const workload::LengthConfig& c) {
  using workload::Distribution;
  return c.distribution == Distribution::Fixed || c.distribution == Distribution::Uniform ||
         c.distribution == Distribution::Empirical;
}

// Longest length of a law; where it has no end, the shortest.
std::int64_t largest_length(const workload::LengthConfig& c) {
  const workload::Lengths lengths(c);
  return has_end(c) ? lengths.at(std::nextafter(1.0, 0.0)) : lengths.shortest();
}

// Largest request that the stated lengths have; none where only running tells.
std::optional<Size> largest_request(const workload::WorkloadConfig& w, std::int64_t limit) {
  Size size;
  if (!w.joint.empty()) {
    for (const workload::JointLength& pair : w.joint)
      if (pair.weight > 0 && pair.input + pair.output > size.prompt + size.output) size = {pair.input, pair.output};
  } else if (w.input_tokens && w.output_tokens && !w.sessions) {
    size = {largest_length(*w.input_tokens), largest_length(*w.output_tokens)};
  } else {
    return std::nullopt;
  }
  if (size.prompt >= limit) return std::nullopt;
  size.output = std::min(size.output, limit - size.prompt);
  return size;
}

// Blocks that a group needs to have the pool to itself for, at least: those of the sequences' tokens before the last
// step, and one more for each. Beams may share all their past, samples the prompt's full blocks.
std::int64_t blocks_of_group(const Size& size, const workload::WorkloadConfig& w, std::int64_t block_size) {
  const auto blocks = [block_size](std::int64_t tokens) { return (tokens + block_size - 1) / block_size; };
  if (size.output < 2) return blocks(size.prompt);
  const std::int64_t sequences = sequences_of(w);
  const std::int64_t before = blocks(size.prompt + size.output - 2);
  const bool apart = !w.beam && size.output > 2;
  const std::int64_t shared = apart ? size.prompt / block_size : before;
  return shared + sequences * (before - shared) + sequences;
}

void check_group_room(const Resolved& r, std::size_t pool, const FitReport& fit, core::Problems& problems) {
  const workload::WorkloadConfig& w = r.scenario.workload;
  const auto size = largest_request(w, *r.scenario.pools[pool].engine.max_model_len);
  if (!size) return;
  const std::int64_t need = blocks_of_group(*size, w, fit.kv.block_size);
  if (need <= fit.engine_blocks) return;
  const bool several = sequences_of(w) > 1;
  const bool given = r.scenario.pools[pool].engine.num_gpu_blocks_override.has_value();
  problems.add(several ? r.sequences_place : r.pools[pool].place + "/engine/max_model_len",
               "a request of {} prompt and {} output tokens in {} needs {} of KV memory at least, and the pool has {}; "
               "{}{}",
               size->prompt, size->output, core::counted(sequences_of(w), "sequence"), core::counted(need, "block"),
               fit.engine_blocks, several ? "ask for fewer sequences, " : "shorten it, ",
               given ? "raise num_gpu_blocks_override" : "raise gpu_memory_utilization or give a replica more GPUs");
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

void check_groups(const Resolved& r, std::span<const FitReport> fits, core::Problems& problems) {
  const workload::WorkloadConfig& w = r.scenario.workload;
  for (std::size_t i = 0; i < r.pools.size(); ++i) {
    const Stack& stack = r.pools[i].stack;
    if (stack.scheduler == Scheduler::VllmV0) {
      check_group(r, i, sequences_of(w), problems);
      check_group_room(r, i, fits[i], problems);
    } else if (w.beam) {
      problems.add(r.sequences_place,
                   "no beam search with {}: {}; use a stack of the scheduler vllm-v0 (vllm-0.6, vllm-0.7), or "
                   "/workload/samples for sequences that never meet",
                   stack.name, no_beams(stack.scheduler));
    }
  }
}

void set_up_groups(const Resolved& r, const FitReport& fit, engine::Config& config) {
  // Ranks that share a GPU share its link.
  const double ranks = cost::ranks_per_gpu(r.scenario.pools[0].device, r.gpu);
  config.host_link.bytes_per_s = r.gpu.pcie_gb_s * 1e9 / ranks;
  // Bytes of a block of the engine's one pool: all layers.
  config.block_bytes = fit.kv.block_bytes * static_cast<double>(fit.kv.groups());
  const workload::WorkloadConfig& w = r.scenario.workload;
  if (config.steps != engine::StepKind::Groups) {
    config.samples = sequences_of(w);
    return;
  }
  config.branching = {sequences_of(w), w.beam.has_value(), w.beam ? w.beam->turnover : 0.0, r.scenario.seed};
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  config.swap_blocks = static_cast<std::int64_t>(*fit.settings.swap_space_gib * gib / config.block_bytes);
  // Derived: a copy reads and writes the block once, at the data sheet's bandwidth.
  if (r.gpu.memory_tb_s > 0) config.block_copy = core::seconds(2 * config.block_bytes / (r.gpu.memory_tb_s * 1e12));
}

}  // namespace servecast::scenario
