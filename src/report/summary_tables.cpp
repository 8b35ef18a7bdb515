#include "report/summary_tables.hpp"

#include "core/units.hpp"
#include "metrics/result.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <vector>

namespace servecast::report {

namespace {

constexpr std::size_t label_width = 16;

std::vector<std::string> distribution_row(std::string label, const metrics::Distribution& d) {
  if (d.count == 0) return {std::move(label), "-", "-", "-", "-", "-", "-"};
  return {std::move(label), figure(d.mean), figure(d.p50), figure(d.p90), figure(d.p95), figure(d.p99), figure(d.max)};
}

// Label, value, remark.
Table remarks(std::string title) {
  return Table({{std::move(title), Align::Left, label_width}, {"", Align::Right, 10}, {"", Align::Left}});
}

}  // namespace

std::string latency_table(const metrics::Result& result) {
  if (!result.latency) return {};
  const metrics::Latency& l = *result.latency;
  Table table({{"Latency (ms)", Align::Left, label_width},
               {"mean", Align::Right, 7},
               {"p50", Align::Right, 7},
               {"p90", Align::Right, 7},
               {"p95", Align::Right, 7},
               {"p99", Align::Right, 7},
               {"max", Align::Right, 7}});
  table.row(distribution_row("TTFT", l.ttft_ms));
  table.row(distribution_row("TPOT", l.tpot_ms));
  table.row(distribution_row("ITL", l.itl_ms));
  table.row(distribution_row("E2E", l.e2e_ms));
  return table.text();
}

std::string throughput_table(const metrics::Result& result) {
  if (!result.throughput) return {};
  const metrics::Throughput& t = *result.throughput;
  Table table = remarks("Throughput");
  const bool ran = metrics::has_rates(result);
  table.row({"requests", figure_if(ran, t.requests_per_s), "/s"});
  table.row({"all tokens", figure_if(ran, t.total_tokens_per_s), "/s, prompts included"});
  if (t.tokens_per_s_per_user > 0) table.row({"per user", figure(t.tokens_per_s_per_user), "output tokens/s"});
  return table.text();
}

namespace {

std::string tiers_text(const std::string& pool, const metrics::TierFigures& t) {
  const std::int64_t hits = t.device_hit_tokens + t.host_hit_tokens + t.nvme_hit_tokens;
  const auto share = [hits](std::int64_t tokens) {
    return hits > 0 ? fmt::format("{:.0f} %", static_cast<double>(tokens) / static_cast<double>(hits) * 100) : "-";
  };
  const auto moved = [&t](std::int64_t blocks) {
    return core::bytes_text(static_cast<double>(blocks) * t.block_bytes);
  };
  const bool nvme = t.nvme_written_blocks > 0;
  std::string text = fmt::format("  {}: hits {} on the GPU, {} on the host", pool, share(t.device_hit_tokens),
                                 share(t.host_hit_tokens));
  if (nvme) text += fmt::format(", {} on NVMe", share(t.nvme_hit_tokens));
  text += fmt::format("\n  {}: host link {} out ({} busy), {} in ({})\n", pool, moved(t.stored_blocks),
                      percent(t.store_link_use), moved(t.loaded_blocks), percent(t.load_link_use));
  if (nvme)
    text += fmt::format("  {}: NVMe {} written ({} busy), {} read ({})\n", pool, moved(t.nvme_written_blocks),
                        percent(t.nvme_write_use), moved(t.nvme_read_blocks), percent(t.nvme_read_use));
  return text;
}

// What sharing and swapping did to a pool; empty where there was neither.
std::string sharing_text(const metrics::PoolMemory& pool) {
  std::string text;
  const std::string name = cut_to(pool.pool, label_width);
  if (pool.saved_by_sharing)
    text += fmt::format("  {}: sharing saves {:.1f} % of the blocks that requests hold\n", name,
                        *pool.saved_by_sharing * 100);
  if (pool.copied_blocks > 0)
    text += fmt::format("  {}: {} copied when written to\n", name, core::counted(pool.copied_blocks, "block"));
  if (pool.tiers) text += tiers_text(name, *pool.tiers);
  if (pool.swapped_out_blocks > 0)
    text += fmt::format("  {}: {} swapped out, {} back in\n", name, core::counted(pool.swapped_out_blocks, "block"),
                        core::count_text(pool.swapped_in_blocks));
  return text;
}

}  // namespace

std::string memory_table(const metrics::Result& result) {
  if (result.memory.empty()) return {};
  Table table({{"Memory", Align::Left, label_width},
               {"weights", Align::Right},
               {"KV cache", Align::Right},
               {"tokens", Align::Right},
               {"mean", Align::Right},
               {"peak", Align::Right},
               {"waste", Align::Right},
               {"hits", Align::Right},
               {"preempted", Align::Right}});
  for (const metrics::PoolMemory& pool : result.memory) {
    table.row({pool.pool, core::bytes_text(pool.weights_bytes), core::bytes_text(pool.kv_bytes),
               core::count_text(pool.kv_tokens), fmt::format("{:.0f} %", pool.mean_use * 100),
               fmt::format("{:.0f} %", pool.peak_use * 100), fmt::format("{:.1f} %", pool.use.waste() * 100),
               pool.prefix_hit_rate ? fmt::format("{:.0f} %", *pool.prefix_hit_rate * 100) : "-",
               core::count_text(pool.preemptions)});
  }
  std::string text = table.text() + "  bytes per GPU, tokens per replica\n";
  for (const metrics::PoolMemory& pool : result.memory) text += sharing_text(pool);
  return text;
}

std::string shares_table(const metrics::Result& result) {
  if (!result.time) return {};
  const metrics::TimeShares& t = *result.time;
  Table table({{"Replica time", Align::Left, label_width},
               {"compute", Align::Right, 9},
               {"memory", Align::Right, 9},
               {"network", Align::Right, 9},
               {"host", Align::Right, 9},
               {"idle", Align::Right, 9}});
  table.row({"share", percent(t.compute), percent(t.memory), percent(t.network), percent(t.host), percent(t.idle)});
  std::string text = table.text();
  if (!result.origin) return text;
  const metrics::OriginShares& o = *result.origin;
  Table origin({{"Numbers behind", Align::Left, label_width},
                {"measured", Align::Right, 9},
                {"derived", Align::Right, 9},
                {"datasheet", Align::Right, 9},
                {"assumed", Align::Right, 9},
                {"extrapolated", Align::Right, 9}});
  origin.row({"step time", percent(o.measured), percent(o.derived), percent(o.datasheet), percent(o.assumed),
              percent(o.extrapolated)});
  return text + "\n" + origin.text();
}

std::string money_and_power_table(const metrics::Result& result) {
  const bool energy = result.energy || !result.no_energy.empty();
  const metrics::RequestCounts& n = result.requests;
  Table table = remarks(result.cost && energy ? "Cost and energy" : result.cost ? "Cost" : "Energy");
  if (result.cost) {
    const metrics::TokenCost& c = *result.cost;
    table.row({"output", usd_if(n.output_tokens > 0, c.usd_per_million_output_tokens),
               "per million tokens, all cost on them"});
    table.row({"input", usd_if(n.prompt_tokens_completed > 0, c.usd_per_million_input_tokens),
               "per million tokens, all cost on them"});
    table.row({"blended", usd_if(n.output_tokens > 0, c.usd_per_million_blended_tokens),
               "per million prompt and output tokens"});
    table.row({"price", usd_if(true, c.usd_per_gpu_hour), "per GPU and hour"});
  }
  if (result.energy) {
    const metrics::EnergyUse& e = *result.energy;
    table.row({"energy", figure_if(n.output_tokens > 0, e.joules_per_output_token),
               e.scaled ? "J per output token, scaled from a B200 by the power limit" : "J per output token"});
    table.row({"power", figure(e.mean_w / 1e3), fmt::format("kW mean, {} kW peak", figure(e.peak_w / 1e3))});
  } else if (!result.no_energy.empty()) {
    table.row({"energy", "-", result.no_energy});
  }
  return table.empty() ? std::string{} : table.text();
}

std::string confidence_lines(const metrics::Result& result) {
  if (!result.confidence) return {};
  const metrics::Confidence& c = *result.confidence;
  Table table = remarks("Confidence (95 %)");
  const auto row = [&](const char* label, const std::optional<double>& half_width) {
    if (half_width) table.row({label, fmt::format("+- {}", figure(*half_width)), "ms on the mean"});
  };
  row("TTFT", c.ttft_ms);
  row("TPOT", c.tpot_ms);
  row("E2E", c.e2e_ms);
  if (!c.ttft_ms) {
    table.row({"means", "none", "too few requests for an interval"});
  } else if (c.warmup_conclusive) {
    table.row({"warm-up", core::count_text(c.warmup_dropped),
               fmt::format("requests; then {} independent samples", figure(c.effective_samples))});
  } else {
    table.row({"warm-up", "unclear", "the run is too short to tell where it ends"});
  }
  return table.text();
}

}  // namespace servecast::report
