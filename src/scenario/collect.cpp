#include "scenario/collect.hpp"

#include "core/fingerprint.hpp"
#include "core/units.hpp"
#include "engine/fan_out.hpp"
#include "hardware/power.hpp"
#include "metrics/conservation.hpp"
#include "metrics/number_in_system.hpp"
#include "scenario/offload_setup.hpp"
#include "scenario/origin_shares.hpp"
#include "scenario/pressure.hpp"
#include "scenario/saturation.hpp"
#include "workload/lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::scenario {

namespace {

// Half-widths of several per cent of the mean are usual in short runs; beyond this the figure is an indication only.
constexpr double loose_interval = 0.1;
constexpr double most_extrapolated = 0.1;  // share of step time beyond which results carry a warning
// Share of requests that may be cut or left out; one in ten is more than a tail.
constexpr double most_changed = 0.1;
// Share of requests in flight beyond which the completed ones are no fair sample.
constexpr double most_in_flight = 0.1;

metrics::Traffic traffic_of(const workload::WorkloadConfig& w) {
  if (w.closed_loop) return metrics::Traffic::Closed;
  const bool at_once = w.arrivals && w.arrivals->process == workload::Process::AllAtOnce;
  return at_once ? metrics::Traffic::AllAtOnce : metrics::Traffic::Open;
}

// From the completed requests, which are the short ones where many are in flight: then as the scenario states it.
double mean_output(const Finished& f) {
  const metrics::RequestCounts& n = f.log.counts();
  const auto& stated = f.resolved.scenario.workload.output_tokens;
  if (stated && static_cast<double>(n.unfinished()) > most_in_flight * static_cast<double>(n.arrived))
    return workload::Lengths(*stated).mean();
  return n.completed > 0 ? static_cast<double>(n.output_tokens) / static_cast<double>(n.completed) : 0.0;
}

// From the requests as they came; prefixes that were hit need no prefill.
std::optional<double> capacity_of(const Finished& f) {
  const metrics::RequestCounts& n = f.log.counts();
  if (n.arrived == 0) return std::nullopt;
  MeanRequest mean;
  const double hits = n.prefix_queried_tokens > 0
                          ? static_cast<double>(n.prefix_hit_tokens) / static_cast<double>(n.prefix_queried_tokens)
                          : 0.0;
  const double prompt = static_cast<double>(n.prompt_tokens) / static_cast<double>(n.arrived);
  mean.cached_tokens = prompt * hits;
  mean.prompt_tokens = prompt - mean.cached_tokens;
  mean.output_tokens = mean_output(f);
  // Requests that the engine makes of one are served like others.
  const double one = saturated_requests_per_s(f.config, f.cost, mean) / engine::fan_out(f.config);
  if (one <= 0) return std::nullopt;
  return one * static_cast<double>(f.cluster.replicas());
}

// Of one GPU, whose ranks hold equal parts.
metrics::PoolMemory memory_of(const Resolved& r, const FitReport& fit) {
  const Pool& pool = r.scenario.pools[0];
  const double ranks = cost::ranks_per_gpu(pool.device, r.gpu);
  metrics::PoolMemory m;
  m.pool = pool.name;
  m.replicas = pool.replicas;
  m.gpus = std::int64_t{pool.replicas} * pool.parallel.gpus();
  m.weights_bytes = ranks * fit.capacity.weights;
  m.kv_bytes = ranks * std::max(0.0, fit.capacity.kv_bytes);
  m.other_bytes = ranks * (fit.capacity.activation_peak + fit.capacity.non_torch + fit.capacity.graphs);
  m.block_size = fit.kv.block_size;
  m.blocks = fit.capacity.blocks;
  m.kv_tokens = fit.kv_tokens;
  return m;
}

void fill_head(metrics::Result& out, const Resolved& r) {
  out.scenario = r.scenario.name;
  out.seed = r.scenario.seed;
  out.gpus = r.gpus_used();
  const Slo& slo = r.scenario.slo;
  out.targets = {slo.ttft_ms, slo.tpot_ms, slo.e2e_ms};
  out.target_percentile = slo.percentile;
}

engine::Totals totals_of(const cluster::Cluster& cluster) {
  engine::Totals sum;
  for (std::size_t i = 0; i < cluster.replicas(); ++i) metrics::add_totals(sum, cluster.replica(i).totals());
  return sum;
}

// Totals are of one rank; its GPU holds as many as it makes devices, all alike.
metrics::EnergyFacts energy_facts(const Finished& f, const engine::Totals& totals, core::Duration duration) {
  const Resolved& r = f.resolved;
  const Pool& pool = r.scenario.pools[0];
  const hardware::PowerFacts power = hardware::power_facts(r.gpu);
  const double ranks = cost::ranks_per_gpu(pool.device, r.gpu);
  metrics::EnergyFacts facts;
  facts.loaded_idle_w = power.loaded_idle_w;
  facts.work_j = static_cast<double>(totals.energy_uj) * 1e-6 * ranks * pool.parallel.gpus();
  facts.peak_work_w = totals.peak_uj_per_ps * 1e6 * ranks;
  facts.scaled = power.scaled;
  facts.duration = duration;
  facts.gpus = r.gpus_used();
  // A machine's overhead is charged to the GPUs in use, in proportion.
  facts.overhead_w = r.node.node_overhead_w * static_cast<double>(facts.gpus) / r.node.gpus;
  facts.prompt_tokens = f.log.counts().prompt_tokens_completed;
  facts.output_tokens = f.log.counts().output_tokens;
  return facts;
}

// Power figures of 0 are unknown, and a sum that leaves a part out is no estimate of the whole.
std::string no_energy_reason(const Resolved& r) {
  if (r.scenario.cost.fixed) return "step times are fixed ones";
  if (r.gpu.tdp_w <= 0) return fmt::format("{} states no limit of power", r.gpu.name);
  if (r.node.node_overhead_w <= 0) return fmt::format("{} states no power beside its GPUs", r.node.name);
  return "";
}

metrics::TierFigures tier_figures(const Finished& f, const engine::Totals& totals, double life) {
  const engine::TierUse& use = totals.tiers;
  const auto share = [life](core::Duration busy) { return life > 0 ? static_cast<double>(busy.ps) / life : 0.0; };
  metrics::TierFigures t;
  t.host_hit_tokens = use.host_hit_tokens;
  t.nvme_hit_tokens = use.storage_hit_tokens;
  const metrics::RequestCounts& counts = f.log.counts();
  t.device_hit_tokens =
      counts.prefix_hit_tokens + counts.prefix_hit_tokens_preempted - t.host_hit_tokens - t.nvme_hit_tokens;
  t.loaded_blocks = totals.loaded_blocks;
  t.stored_blocks = totals.stored_blocks;
  t.nvme_read_blocks = use.storage_read_blocks;
  t.nvme_written_blocks = use.storage_written_blocks;
  t.block_bytes = f.config.block_bytes * cost::ranks_per_gpu(f.resolved.scenario.pools[0].device, f.resolved.gpu);
  t.load_link_use = share(use.in);
  t.store_link_use = share(use.out);
  t.nvme_read_use = share(use.read);
  t.nvme_write_use = share(use.write);
  if (totals.busy.ps > 0) t.held_up = static_cast<double>(use.held_up.ps) / static_cast<double>(totals.busy.ps);
  return t;
}

void fill_pool(metrics::Result& out, const Finished& f, const engine::Totals& totals, core::Duration elapsed) {
  metrics::PoolMemory memory = memory_of(f.resolved, f.fit);
  const double blocks = static_cast<double>(f.config.blocks);
  const double life = static_cast<double>(elapsed.ps) * static_cast<double>(memory.replicas);
  memory.peak_use = static_cast<double>(totals.peak_blocks_used) / blocks;
  memory.mean_use = life > 0 ? static_cast<double>(totals.block_time) / life / blocks : 0.0;
  memory.use = metrics::kv_use(totals, f.config.blocks * f.config.block_size);
  memory.preemptions = totals.preemptions;
  memory.swapped_out_blocks = totals.swapped_out_blocks;
  memory.swapped_in_blocks = totals.swapped_in_blocks;
  memory.copied_blocks = totals.copied_blocks;
  if (totals.saved_block_time > 0)
    memory.saved_by_sharing =
        static_cast<double>(totals.saved_block_time) / static_cast<double>(totals.saved_block_time + totals.block_time);
  const metrics::RequestCounts& counts = f.log.counts();
  if (f.config.enable_prefix_caching && counts.prefix_queried_tokens > 0)
    memory.prefix_hit_rate =
        static_cast<double>(counts.prefix_hit_tokens) / static_cast<double>(counts.prefix_queried_tokens);
  if (f.config.offload_blocks > 0) memory.tiers = tier_figures(f, totals, life);
  out.memory.push_back(memory);
}

// Where so many requests were cut or left out that what was simulated is not what the scenario states; empty: not so.
std::string other_workload(const Finished& f) {
  const workload::SourceReport& s = f.source;
  const auto share = [&s](std::uint64_t n) {
    return s.offered > 0 ? static_cast<double>(n) / static_cast<double>(s.offered) : 0.0;
  };
  const double cut = share(s.clipped_requests);
  const double out = share(s.rejected_overlong);
  if (cut + out <= most_changed) return "";
  const std::string how =
      cut > 0 && out > 0
          ? fmt::format("{} of the requests were cut and {} left out", core::percent_text(cut), core::percent_text(out))
          : fmt::format("{} of the requests were {}", core::percent_text(cut + out), cut > 0 ? "cut" : "left out");
  return fmt::format(
      "{} to fit max_model_len {}, so this is not the workload that the scenario states; raise "
      "/pools/0/engine/max_model_len, or shorten the lengths",
      how, f.config.max_model_len);
}

void add_warnings(metrics::Result& out, const Finished& f, const engine::Totals& totals) {
  const std::string storm =
      preemption_storm({totals.preemptions, static_cast<std::int64_t>(out.requests.arrived), f.config.max_num_seqs},
                       f.fit, f.resolved.pools[0].kv_cache, f.resolved.gpu);
  if (!storm.empty()) out.warnings.push_back(storm);
  const core::Duration life = metrics::run_duration(f.log, f.end) * static_cast<std::int64_t>(f.cluster.replicas());
  const std::string narrow = narrow_link(f.resolved, f.config, totals, life);
  if (!narrow.empty()) out.warnings.push_back(narrow);
  if (!f.cut.empty()) out.warnings.push_back(f.cut);
  for (const std::string& warning : f.source.warnings) out.warnings.push_back(warning);
  const auto count = [](std::uint64_t n, std::string_view noun) {
    return core::counted(static_cast<std::int64_t>(n), noun);
  };
  for (const auto& [reason, rows] : f.source.skipped)
    out.warnings.push_back(fmt::format("skipped {} of the trace: {}", count(rows, "row"), reason));
  for (const auto& [what, rows] : f.source.irregular)
    out.warnings.push_back(fmt::format("{} of the trace: {}", count(rows, "row"), what));
  if (f.source.rejected_overlong > 0)
    out.warnings.push_back(
        fmt::format("left out {} longer than max_model_len", count(f.source.rejected_overlong, "request")));
  const std::string other = other_workload(f);
  if (!other.empty())
    out.cautions.push_back(other);
  else if (f.source.clipped_inputs + f.source.clipped_outputs > 0)
    out.warnings.push_back(fmt::format("cut {} and {} to fit max_model_len", count(f.source.clipped_inputs, "prompt"),
                                       count(f.source.clipped_outputs, "output")));
  if (f.source.sessions_cut > 0)
    out.warnings.push_back(
        fmt::format("ended {} early: the next turn exceeds max_model_len", count(f.source.sessions_cut, "session")));
  if (out.origin && out.origin->extrapolated > most_extrapolated)
    out.warnings.push_back(
        fmt::format("{} of the step time reaches beyond what kernels were measured for; explain shows "
                    "which operators",
                    core::percent_text(out.origin->extrapolated)));
  if (f.resolved.scenario.cost.fixed)
    out.warnings.push_back("step times are the scenario's fixed ones, not a forecast");
  if (out.confidence && out.confidence->ttft_ms && out.latency &&
      *out.confidence->ttft_ms > loose_interval * out.latency->ttft_ms.mean)
    out.warnings.push_back(fmt::format("mean TTFT is known to +-{} only; simulate more requests",
                                       core::percent_text(*out.confidence->ttft_ms / out.latency->ttft_ms.mean)));
}

// The run's own mean lengths: prompts less what their cache held, sequences half way through their output.
std::optional<metrics::OriginShares> origin_of(const Finished& f, const engine::Totals& totals) {
  const metrics::RequestCounts& n = f.log.counts();
  if (f.model == nullptr || totals.steps == 0 || n.arrived == 0 || n.completed == 0) return std::nullopt;
  const double prompt = static_cast<double>(n.prompt_tokens) / static_cast<double>(n.arrived);
  const double output = static_cast<double>(n.output_tokens) / static_cast<double>(n.completed);
  const double computed =
      std::min(prompt, static_cast<double>(totals.prefill_tokens) / static_cast<double>(n.completed));
  return origin_shares(*f.model, totals, {computed, prompt + output / 2});
}

void check_laws(const Finished& f, const metrics::NumberInSystem& n, const engine::Totals& totals) {
  metrics::check_requests(f.log);
  metrics::check_littles_law(f.log, n);
  const std::int32_t sequences = std::max(f.config.branching.sequences, f.config.samples);
  metrics::check_tokens(f.log, {totals.prefill_tokens, totals.decode_tokens, sequences, engine::fan_out(f.config)});
}

void fill_measures(metrics::Result& out, const Finished& f, core::Duration duration) {
  std::vector<double> scratch;
  out.latency = metrics::measure_latency(f.log, f.client_overhead, scratch);
  out.throughput = metrics::measure_throughput(f.log, duration, out.gpus, out.latency->tpot_ms.mean);
  if (out.targets.any())
    out.goodput = metrics::measure_goodput(f.log, duration, out.targets, {f.end, f.client_overhead});
  out.confidence = metrics::measure_confidence(f.log, f.client_overhead, scratch);
  const metrics::RequestCounts& counts = f.log.counts();
  if (const auto price = f.resolved.scenario.price.gpu_hour_usd)
    out.cost =
        metrics::measure_cost({out.gpus, *price}, duration, counts.prompt_tokens_completed, counts.output_tokens);
}

}  // namespace

metrics::Result collect(const Finished& f) {
  metrics::Result out;
  fill_head(out, f.resolved);
  out.requests = f.log.counts();
  out.rejections = f.log.rejections();
  out.partial = f.interrupted;
  const engine::Totals totals = totals_of(f.cluster);
  const core::Duration duration = metrics::run_duration(f.log, f.end);
  const core::Duration seen = out.requests.arrived > 0 ? duration + f.client_overhead : duration;  // by clients
  const auto replicas = static_cast<std::int64_t>(f.cluster.replicas());
  const metrics::ReplicaLimits limits{f.config.max_num_seqs, f.config.blocks, f.config.max_num_batched_tokens};
  const metrics::Occupancy room = metrics::occupancy(totals, duration, replicas, limits);
  const metrics::NumberInSystem n = metrics::number_in_system(f.log.records(), f.end);
  check_laws(f, n, totals);
  out.duration_s = core::to_seconds(seen);
  out.steps = totals.steps;
  out.verdict = metrics::judge(
      f.log, n,
      {traffic_of(f.resolved.scenario.workload), f.stopped_early, f.arrivals_ended, room.largest(), capacity_of(f)});
  fill_measures(out, f, seen);
  out.time = metrics::time_shares(totals, duration, replicas);
  out.limiting_resource = std::string(metrics::limiting_resource(*out.time, room));
  out.no_energy = no_energy_reason(f.resolved);
  if (out.no_energy.empty() && out.requests.arrived > 0)
    out.energy = metrics::measure_energy(energy_facts(f, totals, seen));
  fill_pool(out, f, totals, duration);
  out.origin = origin_of(f, totals);
  out.fingerprint = f.log.fingerprint().text();
  add_warnings(out, f, totals);
  return out;
}

metrics::Result infeasible(const Resolved& r, const Fits& fits) {
  metrics::Result out;
  fill_head(out, r);
  out.verdict = metrics::infeasible(fits.problem);
  if (!fits.pools.empty()) out.memory.push_back(memory_of(r, fits.pools[0]));
  return out;
}

}  // namespace servecast::scenario
