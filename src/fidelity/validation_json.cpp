// A validation for machines: counts, errors by group, and every row.
#include "config/json_text.hpp"
#include "fidelity/validate.hpp"

namespace servecast::fidelity {

namespace {

using config::JsonWriter;

std::string_view match_text(scenario::Match m) {
  return m == scenario::Match::Exact ? "exact" : m == scenario::Match::Nearest ? "nearest" : "unversioned";
}

void write_accuracy(JsonWriter& json, std::string_view key, const Accuracy& a) {
  json.begin_object(key);
  json.value("rows", a.count);
  if (a.count > 0) {
    json.value("median_absolute_error", a.median);
    json.value("p90_absolute_error", a.p90);
    json.value("bias", a.bias);
    json.value("worst_absolute_error", a.worst);
  }
  json.end_object();
}

void write_metrics(JsonWriter& json, std::string_view key, const std::vector<MetricAccuracy>& metrics) {
  json.begin_object(key);
  for (const MetricAccuracy& a : metrics) {
    json.begin_object(a.metric);
    write_accuracy(json, "scored", a.scored);
    if (a.rank) json.value("rank_correlation", *a.rank);
    if (a.doubtful.count > 0) write_accuracy(json, "doubtful", a.doubtful);
    json.end_object();
  }
  json.end_object();
}

void write_counts(JsonWriter& json, std::string_view key,
                  const std::map<std::string, std::size_t, std::less<>>& counts) {
  json.begin_object(key);
  for (const auto& [reason, n] : counts) json.value(reason, n);
  json.end_object();
}

void write_group(JsonWriter& json, const Group& g) {
  json.begin_object();
  json.value("model", g.model);
  json.value("gpu", g.gpu);
  json.value("engine", g.engine);
  json.value("stack", g.stack);
  json.value("match", match_text(g.match));
  json.value("rows", g.rows);
  write_metrics(json, "metrics", g.metrics);
  json.end_object();
}

void write_breakdown(JsonWriter& json, const Breakdown& b) {
  if (b.limiting.empty()) return;
  json.begin_object("time");
  json.value("compute", b.compute);
  json.value("memory", b.memory);
  json.value("network", b.network);
  json.value("host", b.host);
  json.value("idle", b.idle);
  json.value("limiting_resource", b.limiting);
  json.end_object();
}

void write_case(JsonWriter& json, const Case& c) {
  json.begin_object();
  json.value("id", c.id);
  json.value("line", c.line);
  json.value("fate", fate_names[static_cast<std::size_t>(c.fate)]);
  if (!c.reason.empty()) json.value("reason", c.reason);
  if (!c.detail.empty() && c.detail != c.reason) json.value("detail", c.detail);
  if (!c.stack.empty()) json.value("stack", c.stack);
  json.begin_object("metrics");
  for (const Measure& m : c.measures) {
    json.begin_object(m.metric);
    json.value("measured", m.measured);
    if (m.predicted) json.value("predicted", *m.predicted);
    if (!m.doubt.empty()) json.value("doubtful", m.doubt);
    json.end_object();
  }
  json.end_object();
  write_breakdown(json, c.breakdown);
  json.end_object();
}

}  // namespace

std::string validation_json(const Validation& v) {
  JsonWriter json;
  json.begin_object();
  json.value("kind", kind_names[static_cast<std::size_t>(v.kind)]);
  json.value("rows", v.cases.size());
  json.value("predicted", v.predicted);
  json.value("duplicates", v.duplicates);
  json.value("partial", v.interrupted);
  write_counts(json, "refused", v.refused);
  write_counts(json, "context", v.context);
  write_metrics(json, "all", v.all);
  json.begin_object("by_match");
  for (const auto& [match, metrics] : v.by_match) write_metrics(json, match, metrics);
  json.end_object();
  json.begin_array("groups");
  for (const Group& g : v.groups) write_group(json, g);
  json.end_array();
  json.begin_array("cases");
  for (const Case& c : v.cases) write_case(json, c);
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace servecast::fidelity
