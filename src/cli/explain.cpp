// `explain`: what one engine step takes, operator by operator, and what limits each.
#include "cost/explain.hpp"

#include "cli/explain_dies.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/json_text.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "report/figures.hpp"
#include "report/precision.hpp"
#include "report/table.hpp"
#include "scenario/build.hpp"
#include "scenario/precision_report.hpp"
#include "scenario/step_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::cli {

namespace {

// One step to explain: decoding sequences with `context` tokens each, and one prefill chunk of `prefill` tokens.
struct Shape {
  std::int32_t decode = 0;
  std::int32_t context = 0;
  std::int32_t prefill = 0;
};

std::string title(const Shape& s) {
  std::string text;
  if (s.decode > 0)
    text = fmt::format("{} decoding at {} each", core::count_text(s.decode), core::counted(s.context, "token"));
  if (s.prefill > 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", core::counted(s.prefill, "prompt token"));
  return text;
}

// What was asked for, else a few shapes that tell most: one decoder, a full batch, and a full prefill step.
std::vector<Shape> shapes_of(const ExplainOptions& options, const engine::Settings& s, double mean_tokens) {
  const auto usual =
      static_cast<std::int32_t>(std::min<double>(*s.max_model_len, mean_tokens > 0 ? std::ceil(mean_tokens) : 1024));
  const std::int32_t context = options.context.value_or(usual);
  if (options.decode || options.prefill) return {{options.decode.value_or(0), context, options.prefill.value_or(0)}};
  const std::int32_t chunk = std::min(*s.max_num_batched_tokens, *s.max_model_len);
  return {{1, context, 0}, {*s.max_num_seqs, context, 0}, {0, 0, chunk}};
}

void check_shape(const ExplainOptions& options, const engine::Settings& s) {
  core::Problems problems;
  const int decode = options.decode.value_or(0);
  const int prefill = options.prefill.value_or(0);
  const bool given = options.decode || options.prefill;
  if (given && decode == 0 && prefill == 0)
    problems.add("--decode",
                 "no sequence and no prompt token leave nothing to explain; raise --decode or --prefill, "
                 "or give neither to see typical steps");
  else if (given && decode == 0 && options.context)
    problems.add("--context", "{} belong to decoding sequences; give --decode too",
                 core::counted(*options.context, "token"));
  if (decode > *s.max_num_seqs) problems.add("--decode", "{} is above max_num_seqs {}", decode, *s.max_num_seqs);
  if (options.context.value_or(0) > *s.max_model_len)
    problems.add("--context", "{} is above max_model_len {}", *options.context, *s.max_model_len);
  if (prefill > *s.max_model_len) problems.add("--prefill", "{} is above max_model_len {}", prefill, *s.max_model_len);
  if (decode + prefill > *s.max_num_batched_tokens)
    problems.add("--prefill", "{} in the step exceed max_num_batched_tokens {}",
                 core::counted(decode + prefill, "token"), *s.max_num_batched_tokens);
  problems.raise_if_any();
}

struct Explained {
  cost::Explanation step;
  std::vector<cost::DieRow> dies;
};

Explained explained(const cost::StepModel& model, const Shape& s) {
  cost::StepShape shape;
  shape.decode_requests = s.decode;
  shape.decode_context = std::int64_t{s.decode} * s.context;
  const std::int32_t window = model.attention().window;
  shape.decode_context_windowed = std::int64_t{s.decode} * (window > 0 ? std::min(s.context, window) : s.context);
  shape.sampled_rows = s.decode + (s.prefill > 0 ? 1 : 0);
  std::vector<std::pair<std::int32_t, std::int32_t>> chunks;
  if (s.prefill > 0) chunks.emplace_back(0, s.prefill);
  return {cost::explain(model, shape, chunks), cost::explain_dies(model, shape, chunks)};
}

std::string text_of(const Shape& shape, const cost::Explanation& e) {
  report::Table table({{"operator", report::Align::Left, 18},
                       {"n"},
                       {"us"},
                       {"share"},
                       {"limit", report::Align::Left},
                       {"GFLOP"},
                       {"MB"},
                       {"origin", report::Align::Left}});
  for (const cost::ExplainRow& row : e.rows)
    table.row({row.name, report::figure(row.launches), report::figure(row.seconds * 1e6), report::percent(row.share),
               std::string(cost::name(row.limit)), report::figure(row.flops / 1e9), report::figure(row.bytes / 1e6),
               fmt::format("{}{}", row.origin, row.extrapolated ? " (extrapolated)" : "")});
  const cost::StepTime& t = e.time;
  return fmt::format("{}: {}\n  compute {}, memory {}, network {}, host and launches {}\n\n{}", title(shape),
                     core::to_text(t.total), core::to_text(t.compute), core::to_text(t.memory),
                     core::to_text(t.network), core::to_text(t.host), table.text());
}

void write_json(config::JsonWriter& out, const Shape& shape, const cost::Explanation& e,
                const std::vector<cost::DieRow>* dies) {
  out.begin_object();
  out.value("decode", shape.decode);
  out.value("context", shape.context);
  out.value("prefill", shape.prefill);
  out.value("step_us", core::to_seconds(e.time.total) * 1e6);
  out.value("compute_us", core::to_seconds(e.time.compute) * 1e6);
  out.value("memory_us", core::to_seconds(e.time.memory) * 1e6);
  out.value("network_us", core::to_seconds(e.time.network) * 1e6);
  out.value("host_us", core::to_seconds(e.time.host) * 1e6);
  out.begin_array("operators");
  for (const cost::ExplainRow& row : e.rows) {
    out.begin_object();
    out.value("name", row.name);
    out.value("launches", row.launches);
    out.value("us", row.seconds * 1e6);
    out.value("share", row.share);
    out.value("limit", cost::name(row.limit));
    out.value("flops", row.flops);
    out.value("bytes", row.bytes);
    out.value("origin", row.origin);
    out.value("extrapolated", row.extrapolated);
    out.end_object();
  }
  out.end_array();
  if (dies != nullptr) write_dies(out, *dies);
  out.end_object();
}

}  // namespace

int explain(const ExplainOptions& options) {
  const scenario::Resolved r = scenario::resolve({options.common.scenario, options.common.sets, options.common.seed});
  if (r.scenario.cost.fixed)
    throw core::InputError("cost/fixed", "the scenario replaces the cost model by fixed times; nothing to explain");
  const engine::Settings& settings = r.scenario.pools[0].engine;
  check_shape(options, settings);
  std::vector<std::string> warnings;
  const cost::StepModel model = scenario::step_model(r, 0, warnings);
  for (const std::string& warning : warnings) warn(fmt::format("warning: {}", warning));
  std::string text = fmt::format("{} on {}, tensor {}\n", report::cut_to(r.model.name, report::name_width),
                                 report::cut_to(r.gpu.name, report::name_width), r.scenario.pools[0].parallel.tensor);
  config::JsonWriter json;
  json.begin_object();
  if (const auto use = scenario::precision_use(r, 0, true)) {
    text += "\n" + report::precision_text(*use);
    report::write_precision(json, *use);
  }
  json.begin_array("steps");
  for (const Shape& shape : shapes_of(options, settings, scenario::mean_request_tokens(r.scenario.workload))) {
    const Explained e = explained(model, shape);
    text += fmt::format("\n{}", text_of(shape, e.step));
    if (options.dies) text += dies_text(model, e.step.time, e.dies);
    write_json(json, shape, e.step, options.dies ? &e.dies : nullptr);
  }
  json.end_array();
  json.end_object();
  print(options.common.json ? json.text() : text);
  return exit_done;
}

}  // namespace servecast::cli
