// `fit`: the memory verdict of every pool, without simulating.
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/json_text.hpp"
#include "core/units.hpp"
#include "report/figures.hpp"
#include "report/memory_bar.hpp"
#include "report/output_folder.hpp"
#include "report/precision.hpp"
#include "report/table.hpp"
#include "scenario/build.hpp"
#include "scenario/precision_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace servecast::cli {

namespace {

using core::bytes_text;
using core::count_text;
using core::counted;
using report::cut_to;
using report::name_width;

std::string memory_table(const scenario::FitReport& f, std::string_view device) {
  report::Table table({{fmt::format("memory of one {}", device), report::Align::Left, 30}, {"bytes"}});
  const auto part = [&table](std::string_view name, double bytes) {
    if (bytes != 0) table.row({std::string(name), bytes_text(bytes)});
  };
  part("budget of the engine", f.capacity.requested);
  part("weights", f.capacity.weights);
  part("  attention", static_cast<double>(f.weights.attention));
  part("  MLP and shared experts", static_cast<double>(f.weights.mlp));
  part("  routed experts", static_cast<double>(f.weights.experts));
  part("  router and norms", static_cast<double>(f.weights.router + f.weights.norms));
  part("  embedding and LM head", static_cast<double>(f.weights.embedding + f.weights.lm_head));
  part("  draft model", f.draft_bytes);
  part("  tables and encoders", f.table_bytes + f.tower_bytes);
  part("activation peak", f.capacity.activation_peak);
  part("runtime and communicators", f.capacity.non_torch);
  part("CUDA graphs", f.capacity.graphs);
  part("recurrent states", f.capacity.states);
  part(f.capacity.kv_bytes < 0 ? "missing" : "left for the KV cache", std::abs(f.capacity.kv_bytes));
  return table.text();
}

// Of the GPU's whole memory: what the engine leaves is outside its budget.
std::string bar(const scenario::FitReport& f, double memory_bytes) {
  const memory::Capacity& c = f.capacity;
  const report::BarPart parts[] = {{'W', "weights", c.weights},
                                   {'a', "activations, runtime and graphs", c.activation_peak + c.non_torch + c.graphs},
                                   {'S', "recurrent states", c.states},
                                   {'K', "KV cache", std::max(0.0, c.kv_bytes)}};
  return report::memory_bar(parts, memory_bytes);
}

std::string kv_text(const scenario::FitReport& f, double mean_tokens) {
  report::Table table({{"KV cache of one replica", report::Align::Left, 30}, {""}});
  table.row({"blocks", count_text(f.capacity.blocks)});
  table.row({"tokens per block", count_text(f.kv.block_size)});
  if (f.kv.groups() > 1) {
    table.row({"groups of layers sharing them", count_text(f.kv.groups())});
    if (f.kv.windowed_groups > 0) table.row({"  of which see a window only", count_text(f.kv.windowed_groups)});
    if (f.kv.state_groups > 0) table.row({"  of which keep states", count_text(f.kv.state_groups)});
    if (f.kv.encoder_groups > 0) table.row({"  of which see an encoder", count_text(f.kv.encoder_groups)});
  }
  const bool window = f.kv.bytes_beyond_window != f.kv.bytes_per_token;
  if (window || f.kv.bytes_per_request > 0) table.row({"bytes of a token", bytes_text(f.kv.bytes_per_token)});
  if (window) table.row({"  beyond the window", bytes_text(f.kv.bytes_beyond_window)});
  if (f.kv.bytes_per_request > 0) table.row({"bytes of a request, beside", bytes_text(f.kv.bytes_per_request)});
  if (f.kv.fixed_blocks > 0) table.row({"  in blocks", count_text(f.kv.fixed_blocks)});
  table.row({"tokens", count_text(f.kv_tokens)});
  table.row(
      {fmt::format("requests of {}", counted(*f.settings.max_model_len, "token")), count_text(f.longest_requests)});
  if (mean_tokens > 0)
    table.row({fmt::format("requests of {} (mean)", counted(static_cast<std::int64_t>(mean_tokens), "token")),
               count_text(f.mean_requests)});
  table.row({"max_num_seqs", count_text(*f.settings.max_num_seqs)});
  return table.text();
}

std::string text_of(const scenario::Resolved& r, const scenario::Fits& fits) {
  std::string text;
  for (std::size_t i = 0; i < fits.pools.size(); ++i) {
    const scenario::FitReport& f = fits.pools[i];
    const scenario::Pool& pool = r.scenario.pools[i];
    const std::string head =
        fmt::format("{}: {} on {} x {} ({}), stack {}", f.fits ? "fits" : "does not fit",
                    cut_to(r.model.name, name_width), pool.parallel.gpus(), cut_to(r.gpu.name, name_width),
                    counted(pool.replicas, "replica"), cut_to(r.pools[i].stack.name, name_width));
    text += fmt::format("{}\n\n", fmt::join(report::wrap(head, report::terminal_width), "\n"));
    text += memory_table(f, cost::ranks_per_gpu(pool.device, r.gpu) > 1 ? "die" : "GPU");
    text += "\n" + bar(f, r.pools[i].device.memory_gib * core::GiB);
    if (f.fits) text += "\n" + kv_text(f, scenario::mean_request_tokens(r.scenario.workload));
    if (const auto use = scenario::precision_use(r, i, false)) text += "\n" + report::precision_text(*use);
  }
  if (fits.problem.empty()) return text;
  return fmt::format("{}\n{}\n", text, fmt::join(report::wrap(fits.problem, report::terminal_width), "\n"));
}

void write_pool(config::JsonWriter& out, const scenario::Resolved& r, std::size_t i, const scenario::FitReport& f) {
  out.begin_object();
  out.value("pool", r.scenario.pools[i].name);
  out.value("fits", f.fits);
  if (!f.fits) out.value("reason", f.reason);
  out.begin_object("memory");
  out.value("budget_bytes", f.capacity.requested);
  out.value("weights_bytes", f.capacity.weights);
  out.value("activation_peak_bytes", f.capacity.activation_peak);
  out.value("runtime_bytes", f.capacity.non_torch);
  out.value("graphs_bytes", f.capacity.graphs);
  out.value("kv_bytes", std::max(0.0, f.capacity.kv_bytes));
  if (!f.fits) out.value("shortfall_bytes", f.capacity.shortfall);
  out.end_object();
  out.begin_object("kv_cache");
  out.value("bytes_per_token", f.kv.bytes_per_token);
  out.value("bytes_per_token_beyond_window", f.kv.bytes_beyond_window);
  out.value("bytes_per_request", f.kv.bytes_per_request);
  out.value("blocks_per_request", f.kv.fixed_blocks);
  out.value("block_size", f.kv.block_size);
  out.value("blocks", f.capacity.blocks);
  out.value("usable_blocks", f.capacity.usable_blocks);
  out.value("tokens", f.kv_tokens);
  out.value("requests_of_max_model_len", f.longest_requests);
  out.value("requests_of_mean_length", f.mean_requests);
  out.value("requests_at_once", f.seats);
  out.end_object();
  if (const auto use = scenario::precision_use(r, i, false)) report::write_precision(out, *use);
  out.end_object();
}

std::string json_of(const scenario::Resolved& r, const scenario::Fits& fits) {
  config::JsonWriter out;
  out.begin_object();
  out.value("fits", fits.problem.empty());
  if (!fits.problem.empty()) out.value("problem", fits.problem);
  out.begin_array("pools");
  for (std::size_t i = 0; i < fits.pools.size(); ++i) write_pool(out, r, i, fits.pools[i]);
  out.end_array();
  out.end_object();
  return out.text();
}

}  // namespace

int fit(const Common& options) {
  const scenario::Resolved r = scenario::resolve({options.scenario, options.sets, options.seed});
  std::optional<report::OutputFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out).begin(scenario::resolved_json(r));
  const scenario::Fits fits = scenario::fit_all(r);
  const std::string json = json_of(r, fits);
  std::exception_ptr unsaved;
  if (folder) unsaved = saved([&] { folder->write("fit.json", json), folder->commit(); });
  print(options.json ? json : text_of(r, fits));
  if (unsaved) std::rethrow_exception(unsaved);
  return fits.problem.empty() ? exit_done : exit_infeasible;
}

}  // namespace servecast::cli
