// Answers about capacity for people and for machines.
#include "config/json_text.hpp"
#include "core/units.hpp"
#include "plan/capacity.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::plan {

namespace {

using config::JsonWriter;
using report::figure;

std::string ms(double value) { return std::isinf(value) ? "never" : figure(value); }

std::string points_table(const std::vector<Point>& points, double rate, const std::string& unit, double percentile) {
  std::vector<const Point*> order;
  for (const Point& p : points) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(), [](const Point* a, const Point* b) {
    return a->replicas != b->replicas ? a->replicas < b->replicas : a->factor < b->factor;
  });
  std::vector<report::Column> columns = {{unit}, {"replicas"}};
  if (!points.empty())
    for (const metrics::TargetValue& t : points.front().targets)
      columns.push_back({fmt::format("{} p{:g} ms", t.name, percentile)});
  columns.push_back({"load"});
  columns.push_back({"limit", report::Align::Left});
  columns.push_back({"targets", report::Align::Left});
  report::Table table(std::move(columns));
  for (const Point* p : order) {
    std::vector<std::string> cells = {figure(p->factor * rate), fmt::format("{}", p->replicas)};
    for (const metrics::TargetValue& t : p->targets) cells.push_back(ms(t.value_ms));
    cells.push_back(figure(p->load_factor));
    cells.push_back(p->limiting);
    cells.push_back(p->good               ? "met"
                    : !p->aborted.empty() ? "aborted"
                    : p->saturated        ? "saturated"
                    : p->undecided()      ? "unclear"
                                          : "missed");
    table.row(std::move(cells));
  }
  return table.text();
}

std::string sentence(const std::string& text) {
  std::string out;
  for (const std::string& line : report::wrap(text, report::terminal_width)) out += line + "\n";
  return out;
}

void write_point(JsonWriter& json, const Point& p, double rate) {
  json.value("rate", p.factor * rate);
  json.value("replicas", p.replicas);
  json.value("meets_targets", p.good);
  json.value("saturated", p.saturated);
  json.value("verdict", metrics::state_names[static_cast<std::size_t>(p.state)]);
  json.value("load_factor", p.load_factor);
  json.value("limiting_resource", p.limiting);
  json.begin_object("targets");
  for (const metrics::TargetValue& t : p.targets) {
    json.begin_object(t.name);
    json.value("target_ms", t.target_ms);
    if (!std::isinf(t.value_ms)) json.value("value_ms", t.value_ms);
    json.value("met", t.met());
    json.end_object();
  }
  json.end_object();
  if (!p.good) json.value("why", p.why());
}

void write_named(JsonWriter& json, const char* key, const std::optional<Point>& p, double rate) {
  if (!p) return;
  json.begin_object(key);
  write_point(json, *p, rate);
  json.end_object();
}

void write_points(JsonWriter& json, const std::vector<Point>& points, double rate) {
  json.begin_array("points");
  for (const Point& p : points) {
    json.begin_object();
    write_point(json, p, rate);
    json.end_object();
  }
  json.end_array();
}

// The search ended where the requests are too few to tell, not where a target breaks.
bool open_above(const Capacity& c) { return c.factor.low > 0 && c.at_high && c.at_high->undecided(); }

std::string answer_of(const Capacity& c) {
  if (c.interrupted) return "interrupted before the search ended";
  if (c.factor.low <= 0)
    return fmt::format("no rate meets the targets: at {} {} {}", figure(c.high()), c.unit,
                       c.at_high ? c.at_high->why() : "");
  if (open_above(c))
    return fmt::format("at least {} {} on {} GPUs within the targets at p{:g}: beyond, {}", figure(c.low()), c.unit,
                       c.gpus, c.percentile, c.at_high->why());
  if (std::isinf(c.factor.high))
    return fmt::format("at least {} {}: no rate tried misses the targets, and a scenario can state none much higher",
                       figure(c.low()), c.unit);
  return fmt::format("capacity: {} to {} {} on {} within the targets at p{:g}", figure(c.low()), figure(c.high()),
                     c.unit, core::counted(c.gpus, "GPU"), c.percentile);
}

std::string margin_of(const Capacity& c) {
  if (c.factor.low <= 0 || c.interrupted) return "";
  const double margin = c.factor.low - 1;
  return fmt::format("the scenario's {} {} {} by {}", figure(c.scenario_rate), c.unit,
                     margin >= 0 ? "can grow" : "must shrink", report::percent(std::abs(margin)));
}

}  // namespace

std::string capacity_text(const Capacity& c) {
  std::string text = sentence(answer_of(c));
  if (const std::string margin = margin_of(c); !margin.empty()) text += sentence(margin);
  if (c.at_low) text += sentence("limiting resource: " + c.at_low->limiting);
  if (c.at_high && c.at_low && !open_above(c)) text += sentence("breaks first: " + c.at_high->why());
  return text + "\n" + points_table(c.points, c.scenario_rate, c.unit, c.percentile);
}

std::string capacity_json(const Capacity& c) {
  JsonWriter json;
  json.begin_object();
  json.value("unit", c.unit);
  json.value("scenario_rate", c.scenario_rate);
  if (c.factor.low > 0) json.value("low", c.low());
  if (!std::isinf(c.factor.high) && !open_above(c)) json.value("high", c.high());
  if (c.factor.low > 0 && !c.interrupted) json.value("margin", c.factor.low - 1);
  json.value("gpus", c.gpus);
  json.value("percentile", c.percentile);
  json.value("partial", c.interrupted);
  if (c.at_low) json.value("limiting_resource", c.at_low->limiting);
  if (open_above(c))
    json.value("open_above", c.at_high->why());
  else if (c.at_high)
    json.value("breaks_first", c.at_high->why());
  write_named(json, "at_scenario", c.at_scenario, c.scenario_rate);
  write_points(json, c.points, c.scenario_rate);
  json.end_object();
  return json.text();
}

std::string sizing_text(const Sizing& s) {
  std::string text;
  if (s.interrupted)
    text = "interrupted before the search ended\n";
  else if (!s.replicas)
    text = sentence(s.problem);
  else
    text = sentence(fmt::format("{} of {} ({}) {} {} {} within the targets at p{:g}",
                                core::counted(*s.replicas, "replica"), core::counted(s.gpus_per_replica, "GPU"),
                                core::counted(*s.replicas * s.gpus_per_replica, "GPU"),
                                *s.replicas == 1 ? "carries" : "carry", figure(s.scenario_rate), s.unit, s.percentile));
  if (s.replicas && s.nodes > s.nodes_stated)
    text += sentence(fmt::format("they need {} of {}, and the scenario has {}: raise /cluster/nodes",
                                 core::counted(s.nodes, "node"), s.node, s.nodes_stated));
  if (s.at) text += sentence("limiting resource: " + s.at->limiting);
  if (s.below) text += sentence(fmt::format("with {}: {}", s.below->replicas, s.below->why()));
  return text + "\n" + points_table(s.points, s.scenario_rate, s.unit, s.percentile);
}

std::string sizing_json(const Sizing& s) {
  JsonWriter json;
  json.begin_object();
  json.value("unit", s.unit);
  json.value("scenario_rate", s.scenario_rate);
  json.value("percentile", s.percentile);
  json.value("partial", s.interrupted);
  if (s.replicas) {
    json.value("replicas", *s.replicas);
    json.value("gpus", *s.replicas * s.gpus_per_replica);
    json.value("nodes", s.nodes);
    json.value("nodes_stated", s.nodes_stated);
  }
  if (!s.problem.empty()) json.value("problem", s.problem);
  write_named(json, "at", s.at, s.scenario_rate);
  write_named(json, "below", s.below, s.scenario_rate);
  write_points(json, s.points, s.scenario_rate);
  json.end_object();
  return json.text();
}

std::string infeasible_json(const std::string& problem) {
  JsonWriter json;
  json.begin_object();
  json.value("verdict", metrics::state_names[static_cast<std::size_t>(metrics::State::Infeasible)]);
  json.value("problem", problem);
  json.end_object();
  return json.text();
}

}  // namespace servecast::plan
