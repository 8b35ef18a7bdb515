// A comparison for people and for machines.
#include "config/json_text.hpp"
#include "core/units.hpp"
#include "plan/compare.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <cmath>

namespace servecast::plan {

namespace {

using report::figure;

std::string label(const Difference& d) {
  std::string name = d.metric.substr(1);
  for (char& c : name)
    if (c == '/') c = ' ';
  return name;
}

std::string verdict_of(const Difference& d) {
  if (!d.clear()) return d.half_width ? "within chance" : "equal";
  const bool lower = d.difference() < 0;
  return lower == d.lower_is_better ? "B better" : "B worse";
}

std::string line_of(const Difference& d) {
  if (!d.clear() || d.a == 0) return "";
  const double change = d.difference() / std::abs(d.a);
  std::string text =
      fmt::format("{}: B is {} {}", label(d), report::percent(std::abs(change)), change < 0 ? "lower" : "higher");
  if (d.half_width) text += fmt::format(" (+- {} at 95 %)", report::percent(*d.half_width / std::abs(d.a)));
  return text;
}

// The few figures whose difference is said in a sentence.
bool headline(const Difference& d) {
  return d.metric == "/latency/ttft_ms/mean" || d.metric == "/latency/tpot_ms/mean" ||
         d.metric == "/throughput/output_tokens_per_s_per_gpu" || d.metric == "/goodput_requests_per_s" ||
         d.metric == "/cost/usd_per_million_output_tokens";
}

}  // namespace

std::string comparison_text(const Comparison& c) {
  if (!c.problem.empty()) return c.problem + "\n";
  std::string text =
      fmt::format("A: {}\nB: {}\n", report::cut_to(c.a, report::name_width), report::cut_to(c.b, report::name_width));
  if (c.replications > 0)
    text += fmt::format("{} under common random numbers\n", core::counted(c.replications, "paired replication"));
  if (c.interrupted) text += "interrupted: fewer replications than asked for\n";
  for (const std::string& state : c.states) text += state + "\n";
  text += "\n";
  bool any = false;
  for (const Difference& d : c.differences) {
    if (!headline(d)) continue;
    const std::string line = line_of(d);
    any = any || !line.empty();
    if (!line.empty()) text += line + "\n";
  }
  if (!any) text += "no clear difference in the main figures\n";
  report::Table table(
      {{"", report::Align::Left, 30}, {"A"}, {"B"}, {"B - A"}, {"+-"}, {"B / A"}, {"", report::Align::Left}});
  for (const Difference& d : c.differences)
    table.row({label(d), figure(d.a), figure(d.b), figure(d.difference()), d.half_width ? figure(*d.half_width) : "-",
               d.ratio() ? fmt::format("{:.3f}", *d.ratio()) : "-", verdict_of(d)});
  text += "\n" + table.text(2, 100);
  for (const std::string& warning : c.warnings) text += "\nwarning: " + warning + "\n";
  return text;
}

std::string comparison_json(const Comparison& c) {
  config::JsonWriter json;
  json.begin_object();
  json.value("a", c.a);
  json.value("b", c.b);
  json.value("replications", c.replications);
  json.value("partial", c.interrupted);
  if (!c.problem.empty()) json.value("problem", c.problem);
  json.begin_array("differences");
  for (const Difference& d : c.differences) {
    json.begin_object();
    json.value("metric", d.metric);
    json.value("unit", d.unit);
    json.value("a", d.a);
    json.value("b", d.b);
    json.value("difference", d.difference());
    if (d.half_width) json.value("half_width_95", *d.half_width);
    if (d.ratio()) json.value("ratio", *d.ratio());
    json.value("verdict", verdict_of(d));
    json.end_object();
  }
  json.end_array();
  json.begin_array("warnings");
  for (const std::string& state : c.states) json.element(state);
  for (const std::string& warning : c.warnings) json.element(warning);
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace servecast::plan
