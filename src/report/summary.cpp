#include "report/summary.hpp"

#include "core/units.hpp"
#include "metrics/result.hpp"
#include "report/figures.hpp"
#include "report/precision.hpp"
#include "report/summary_tables.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <string_view>

namespace servecast::report {

namespace {

std::string_view in_words(std::string_view resource) {
  if (resource == "kv_memory") return "KV memory";
  if (resource == "sequence_slots") return "the number of running sequences";
  if (resource == "step_tokens") return "the token budget of a step";
  if (resource == "memory_bandwidth") return "memory bandwidth";
  if (resource == "host") return "the host";
  if (resource == "network") return "the network";
  return resource;
}

std::string sentence(const metrics::Result& result) {
  const metrics::Verdict& verdict = result.verdict;
  std::string text = verdict.conclusive ? std::string(metrics::state_names[static_cast<std::size_t>(verdict.state)])
                                        : "too short a run to tell";
  if (verdict.load_factor)
    text += fmt::format("{} load factor {}", verdict.conclusive ? " at" : ",", figure(*verdict.load_factor));
  if (result.limiting_resource && *result.limiting_resource != "none") {
    text += fmt::format(", limited by {}", in_words(*result.limiting_resource));
  }
  return text;
}

std::string_view colour_of(const metrics::Verdict& verdict) {
  if (!verdict.conclusive) return "\x1b[1;33m";
  switch (verdict.state) {
    case metrics::State::Stable: return "\x1b[1;32m";
    case metrics::State::Backlogged: return "\x1b[1;33m";
    default: return "\x1b[1;31m";
  }
}

std::string paragraph(std::string_view text, std::string_view first, std::string_view rest) {
  std::string out;
  for (const std::string& line : wrap(text, terminal_width - first.size())) {
    out += fmt::format("{}{}\n", out.empty() ? first : rest, line);
  }
  return out;
}

std::string head(const metrics::Result& result, Colour colour) {
  const std::string name = cut_to(result.scenario, name_width);
  const std::string text = name.empty() ? sentence(result) : name + ": " + sentence(result);
  std::string out;
  for (const std::string& line : wrap(text, terminal_width)) {
    out += colour == Colour::On ? fmt::format("{}{}\x1b[0m\n", colour_of(result.verdict), line) : line + '\n';
  }
  out += paragraph(result.verdict.reason, "  ", "  ");
  for (const std::string& caution : result.cautions) out += paragraph("caution: " + caution, "  ", "  ");
  if (result.partial) out += "  interrupted: everything below covers the simulated part only\n";
  return out;
}

std::string requests_line(const metrics::Result& result) {
  const metrics::RequestCounts& r = result.requests;
  if (r.arrived == 0) return {};
  std::string text =
      fmt::format("{} arrived, {} completed", core::counted(r.arrived, "request"), core::count_text(r.completed));
  if (r.unfinished() > 0) text += fmt::format(", {} unfinished", core::count_text(r.unfinished()));
  if (r.rejected > 0) text += fmt::format(", {} rejected", core::count_text(r.rejected));
  if (r.preempted > 0) text += fmt::format(", {} preempted on the way", core::count_text(r.preempted));
  if (result.duration_s)
    text += fmt::format("; {} s on {}", figure(*result.duration_s), core::counted(result.gpus, "GPU"));
  std::string out = paragraph(text, "  ", "  ");
  for (const auto& [reason, count] : result.rejections) {
    out += paragraph(fmt::format("{} rejected: {}", core::count_text(count), reason), "    ", "    ");
  }
  return out;
}

std::string targets_text(const metrics::Targets& targets) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<double>& ms) {
    if (ms) text += fmt::format("{}{} {} ms", text.empty() ? "" : ", ", name, figure(*ms));
  };
  add("TTFT", targets.ttft_ms);
  add("TPOT", targets.tpot_ms);
  add("E2E", targets.e2e_ms);
  return text;
}

std::string attainment_text(const metrics::Goodput& g) {
  if (!g.slo_attainment) return "requests/s; no request is decided";
  return fmt::format("requests/s; {} of all meet the targets", percent(*g.slo_attainment));
}

// The five numbers that matter.
std::string five_numbers(const metrics::Result& result) {
  Table table({{"", Align::Left, 16}, {"", Align::Right, 10}, {"", Align::Left}});
  if (result.latency) {
    const metrics::Latency& l = *result.latency;
    table.row({"TTFT p50", figure_if(l.ttft_ms.count > 0, l.ttft_ms.p50), "ms"});
    table.row({"TTFT p99", figure_if(l.ttft_ms.count > 0, l.ttft_ms.p99), "ms"});
    table.row({"TPOT p99", figure_if(l.tpot_ms.count > 0, l.tpot_ms.p99), "ms"});
  }
  if (result.throughput) {
    const bool ran = metrics::has_rates(result);
    table.row({"output tokens", figure_if(ran, result.throughput->output_tokens_per_s),
               fmt::format("/s, {} /s per GPU", figure_if(ran, result.throughput->output_tokens_per_s_per_gpu))});
  }
  if (result.goodput) {
    table.row({"goodput", figure_if(metrics::has_rates(result), result.goodput->requests_per_s),
               attainment_text(*result.goodput)});
    if (result.targets.any()) table.row({"", "", targets_text(result.targets)});
    if (result.goodput->undecided > 0)
      table.row({"", "", fmt::format("{} in flight count neither way", core::count_text(result.goodput->undecided))});
  } else if (result.cost) {
    table.row({"cost", usd_if(result.requests.output_tokens > 0, result.cost->usd_per_million_output_tokens),
               "per million output tokens"});
  }
  return table.empty() ? std::string{} : table.text();
}

std::string warnings(const metrics::Result& result) {
  if (result.warnings.empty()) return {};
  std::string out = "  Warnings\n";
  for (const std::string& warning : result.warnings) out += paragraph(warning, "  - ", "    ");
  return out;
}

std::string foot(const metrics::Result& result) {
  std::string text = fmt::format("seed {}", result.seed);
  if (!result.fingerprint.empty()) text += "  fingerprint " + result.fingerprint;
  if (!result.tool_version.empty()) text += "  servecast " + result.tool_version;
  return paragraph(text, "  ", "  ");
}

}  // namespace

std::string summary(const metrics::Result& result, Colour colour) {
  std::string out = head(result, colour);
  const auto section = [&out](const std::string& text) {
    if (!text.empty()) out += '\n' + text;
  };
  section(five_numbers(result));
  section(requests_line(result));
  section(latency_table(result));
  section(throughput_table(result));
  section(memory_table(result));
  if (result.precision) section(precision_text(*result.precision));
  section(shares_table(result));
  section(money_and_power_table(result));
  section(confidence_lines(result));
  section(warnings(result));
  section(foot(result));
  return out;
}

}  // namespace servecast::report
