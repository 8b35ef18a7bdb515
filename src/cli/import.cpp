// `import hf-config` and `import trace`.
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"
#include "config/json_text.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "model/hf_config.hpp"
#include "model/model_file.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"
#include "workload/prefix_replay.hpp"
#include "workload/trace_summary.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace servecast::cli {

namespace {

std::string read_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw core::Error(fmt::format("cannot read {}: it is a directory", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw core::Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Quantised checkpoints of NVIDIA's ModelOpt keep their formats in a file of their own beside config.json.
std::string read_quantization(const std::string& config_path) {
  const std::filesystem::path beside = std::filesystem::path(config_path).parent_path() / "hf_quant_config.json";
  std::error_code ignored;
  return std::filesystem::is_regular_file(beside, ignored) ? read_text(beside.string()) : "";
}

workload::TraceFormat format_of(const std::string& name) {
  using workload::trace_format_names;
  if (name.empty()) return workload::TraceFormat::Auto;
  for (std::size_t i = 0; i < trace_format_names.size(); ++i)
    if (name == trace_format_names[i]) return static_cast<workload::TraceFormat>(i);
  throw core::InputError("--format",
                         fmt::format("unknown trace format \"{}\"{}", name, config::hint(name, trace_format_names)));
}

std::string_view format_name(workload::TraceFormat format) {
  return names_of(format)[static_cast<std::size_t>(format)];
}

std::string row(std::string_view label, std::string_view value) {
  constexpr std::size_t column = 25;
  std::string text;
  for (const std::string& line : report::wrap(value, report::terminal_width - column))
    text += fmt::format("{:<25}{}\n", text.empty() ? fmt::format("  {}", label) : std::string(), line);
  return text;
}

std::string lengths_row(std::string_view label, const workload::LengthSummary& l) {
  using core::count_text;
  return fmt::format("  {:<14} {:>13} {:>9.1f} {:>8} {:>8} {:>8} {:>8}\n", label, count_text(l.total), l.mean,
                     count_text(static_cast<std::int64_t>(l.p50)), count_text(static_cast<std::int64_t>(l.p90)),
                     count_text(static_cast<std::int64_t>(l.p99)), count_text(l.max));
}

std::string count(std::uint64_t n) { return core::count_text(static_cast<std::int64_t>(n)); }

std::string trace_text(const std::string& file, const workload::TraceSummary& s) {
  using core::number_text;
  std::string text = fmt::format("{} ({} format)\n\n", file, format_name(s.format));
  text += row("rows", count(s.rows)) + row("requests", count(s.requests));
  for (const auto& [reason, rows] : s.skipped) text += row("  skipped", fmt::format("{}: {}", count(rows), reason));
  for (const auto& [what, rows] : s.irregular) text += row("  amiss", fmt::format("{}: {}", count(rows), what));
  text += row("span", fmt::format("{} s", number_text(s.span_s))) +
          row("mean rate", fmt::format("{} requests/s", number_text(s.mean_rate_per_s))) +
          row("busiest minute", s.peak_minute_requests_per_s
                                    ? fmt::format("{} requests/s", number_text(*s.peak_minute_requests_per_s))
                                    : "- (shorter than a minute)") +
          row("CV of gaps", number_text(s.gap_cv));
  text += fmt::format("\n  {:<14} {:>13} {:>9} {:>8} {:>8} {:>8} {:>8}\n", "tokens", "total", "mean", "p50", "p90",
                      "p99", "max");
  text += lengths_row("input", s.input) + lengths_row("output", s.output);
  if (s.block_tokens > 0)
    text += fmt::format(
        "\n  prefix reuse of an infinite cache: {} of {} of {} ({})\n", count(s.prefix_hits),
        core::counted(static_cast<std::int64_t>(s.prefix_blocks), "block"), core::counted(s.block_tokens, "token"),
        core::percent_text(
            s.prefix_blocks == 0 ? 0.0 : static_cast<double>(s.prefix_hits) / static_cast<double>(s.prefix_blocks)));
  for (const std::string& note : s.notes) text += fmt::format("\n  note: {}\n", note);
  return text;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string replays_text(const workload::PrefixReplays& r) {
  using core::count_text;
  report::Table table(
      {{"prefix cache", report::Align::Left}, {"blocks hit"}, {"of blocks"}, {"tokens hit"}, {"of tokens"}});
  for (const workload::PrefixReplay& c : r.caches) {
    table.row({c.capacity == 0 ? "unlimited" : core::counted(c.capacity, "block"), count_text(c.hit_blocks),
               core::percent_text(share(c.hit_blocks, r.blocks)), count_text(c.hit_tokens),
               core::percent_text(share(c.hit_tokens, r.tokens))});
  }
  return fmt::format(
      "\n{}  blocks of {}; each prompt enters whole at its arrival, outputs never;\n"
      "  least recently used out, of a prompt its end first; tokens: whole blocks,\n"
      "  and never a prompt's last token, as an engine can use them\n",
      table.text(), core::counted(r.block_tokens, "token"));
}

void write_replays(config::JsonWriter& out, const workload::PrefixReplays& r) {
  out.begin_array("prefix_caches");
  for (const workload::PrefixReplay& c : r.caches) {
    out.begin_object();
    if (c.capacity == 0)
      out.null("capacity_blocks");
    else
      out.value("capacity_blocks", c.capacity);
    out.value("hit_blocks", c.hit_blocks);
    out.value("hit_share_of_blocks", share(c.hit_blocks, r.blocks));
    out.value("hit_tokens", c.hit_tokens);
    out.value("hit_share_of_tokens", share(c.hit_tokens, r.tokens));
    out.end_object();
  }
  out.end_array();
}

void write_lengths(config::JsonWriter& out, std::string_view key, const workload::LengthSummary& l) {
  out.begin_object(key);
  out.value("total", l.total);
  out.value("mean", l.mean);
  out.value("p50", l.p50);
  out.value("p90", l.p90);
  out.value("p99", l.p99);
  out.value("max", l.max);
  out.end_object();
}

std::string trace_json(const workload::TraceSummary& s, const std::optional<workload::PrefixReplays>& replays) {
  config::JsonWriter out;
  out.begin_object();
  out.value("format", format_name(s.format));
  out.value("rows", s.rows);
  out.value("requests", s.requests);
  out.begin_object("skipped");
  for (const auto& [reason, rows] : s.skipped) out.value(reason, rows);
  out.end_object();
  out.begin_object("irregular");
  for (const auto& [what, rows] : s.irregular) out.value(what, rows);
  out.end_object();
  out.value("span_s", s.span_s);
  out.value("mean_rate_per_s", s.mean_rate_per_s);
  if (s.peak_minute_requests_per_s)
    out.value("peak_minute_requests_per_s", *s.peak_minute_requests_per_s);
  else
    out.null("peak_minute_requests_per_s");
  out.value("gap_cv", s.gap_cv);
  write_lengths(out, "input_tokens", s.input);
  write_lengths(out, "output_tokens", s.output);
  out.begin_object("prefix");
  out.value("block_tokens", s.block_tokens);
  out.value("blocks", s.prefix_blocks);
  out.value("hits", s.prefix_hits);
  out.end_object();
  if (replays) write_replays(out, *replays);
  out.begin_array("notes");
  for (const std::string& note : s.notes) out.element(note);
  out.end_array();
  out.end_object();
  return out.text();
}

}  // namespace

int import_trace(const ImportOptions& options) {
  const workload::TraceFormat format = format_of(options.format);
  const workload::TraceSummary summary = workload::summarise_trace(options.file, format);
  std::optional<workload::PrefixReplays> replays;
  if (!options.prefix_cache.empty()) {
    std::vector<std::int64_t> capacities = options.prefix_cache;
    capacities.push_back(0);
    replays = workload::replay_prefixes(options.file, format, capacities);
  }
  if (options.json)
    print(trace_json(summary, replays));
  else
    print(trace_text(options.file, summary) + (replays ? replays_text(*replays) : std::string()));
  return exit_done;
}

int import_hf_config(const ImportOptions& options) {
  const std::string text = read_text(options.file);
  const std::string quantization = read_quantization(options.file);
  core::Problems problems;
  model::ImportResult result = model::import_hf_config({text, options.file, quantization}, problems);
  problems.raise_if_any();
  if (!options.name.empty()) result.architecture.name = options.name;
  for (const std::string& note : result.notes) warn(fmt::format("note: {}", note));
  deliver(options.out, model::model_file(result.architecture));
  return exit_done;
}

}  // namespace servecast::cli
