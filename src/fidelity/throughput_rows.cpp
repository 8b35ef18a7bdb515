// Offline runs: everything queued at time zero, tokens per second of the whole machine. MLPerf names its data set
// instead of lengths; what is assumed of it stands here.
#include "core/units.hpp"
#include "fidelity/deploy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::fidelity {

namespace {

// Lengths of a benchmark's data set in the model's own tokens. Prompts are assumed, outputs are the references that the
// rows state.
struct DataSet {
  std::string_view name;
  std::int32_t prompt_mean, prompt_p99;
  double output_mean, output_p99;
};
constexpr DataSet data_sets[] = {{"openorca", 155, 900, 294.45, 1000}, {"cnn-dailymail", 780, 1800, 128, 128}};

struct Shape {
  Load load;
  const DataSet* data = nullptr;
};

std::optional<Shape> shape_of(const CsvRow& row) {
  Shape s;
  const auto isl = number_in(row, "isl");
  const auto osl = number_in(row, "osl");
  if (isl && osl) {
    s.load = {static_cast<std::int64_t>(*isl), static_cast<std::int64_t>(*osl), 0};
    return s;
  }
  for (const DataSet& d : data_sets)
    if (lower_case(text_of(row, "isl")).starts_with(d.name)) s.data = &d;
  if (s.data == nullptr) return std::nullopt;
  s.load = {1024, std::lround(s.data->output_p99), 0};  // longest, for the limits
  if (s.data->prompt_p99 > 1024) s.load.isl = 2048;
  return s;
}

workload::LengthConfig length(double mean, double p99, std::int64_t most) {
  workload::LengthConfig c;
  if (p99 <= mean) {
    c.value = static_cast<std::int32_t>(std::lround(mean));
    return c;
  }
  c.distribution = workload::Distribution::Lognormal;
  c.mean = mean;
  c.p99 = p99;
  c.min = 1;
  c.max = static_cast<std::int32_t>(most);
  return c;
}

void set_workload(const Shape& shape, scenario::Scenario& s) {
  workload::WorkloadConfig& w = s.workload;
  w.arrivals.emplace().process = workload::Process::AllAtOnce;
  w.requests = offline_requests(shape.load);
  if (shape.data != nullptr) {
    w.input_tokens = length(shape.data->prompt_mean, shape.data->prompt_p99, shape.load.isl);
    w.output_tokens = length(shape.data->output_mean, shape.data->output_p99, shape.load.osl);
    return;
  }
  w.input_tokens.emplace().value = static_cast<std::int32_t>(shape.load.isl);
  w.output_tokens.emplace().value = static_cast<std::int32_t>(shape.load.osl);
}

bool offline(const std::string& scenario) { return scenario == "static-offline" || scenario == "offline"; }

void add_measure(const CsvRow& row, Case& out) {
  const std::string metric = text_of(row, "metric");
  if (metric != "output_throughput" && metric != "output_throughput_per_gpu" && metric != "request_throughput") {
    out.fate = Fate::Context;
    out.reason = metric + " is context";
    return;
  }
  const auto value = number_in(row, "value");
  if (!value || *value <= 0)
    out.refuse("no measured value");
  else
    out.measures.push_back({metric, *value, {}, {}});
}

}  // namespace

Case published_case(const CsvRow& row, const RowContext& context) {
  Case out;
  out.id = text_of(row, "id");
  out.model = text_of(row, "model");
  out.gpu = text_of(row, "hardware");
  out.engine = lower_case(text_of(row, "framework"));
  if (const std::string kind = text_of(row, "scenario"); !offline(kind)) {
    out.fate = Fate::Context;
    out.reason = "scenario " + kind + " is context";
    return out;
  }
  add_measure(row, out);
  if (out.fate != Fate::Predicted) return out;
  const auto shape = shape_of(row);
  // A submission that states no format runs the GPU's fastest.
  std::string weights = text_of(row, "weight_precision");
  if (weights.empty() && shape && shape->data != nullptr) weights = "uncertain";
  Placed placed;
  if (!place({out.model, out.gpu, text_of(row, "framework"), weights, "", text_of(row, "kv_precision"),
              text_of(row, "parallelism")},
             context, out, placed))
    return out;
  if (!shape) {
    out.refuse("unknown lengths", "no lengths are known for " + text_of(row, "isl"));
    return out;
  }
  const auto gpus = static_cast<std::int64_t>(number_in(row, "n_gpus").value_or(0));
  scenario::Pool& pool = out.scenario->pools[0];
  // Where no parallelism is stated, each GPU is taken as a replica of its own.
  out.gpus = std::max<std::int64_t>(gpus, pool.parallel.gpus());
  out.copies = static_cast<std::int32_t>(std::max<std::int64_t>(1, out.gpus / pool.parallel.gpus()));
  out.shape = fmt::format("{}, tp {}, {}/{}, all at once", core::counted(out.gpus, "GPU"), pool.parallel.tensor,
                          text_of(row, "isl"), text_of(row, "osl"));
  Load load = shape->load;
  load.concurrency = offline_requests(load);
  if (!configure(placed, load, out)) return out;
  set_workload(*shape, *out.scenario);
  return out;
}

}  // namespace servecast::fidelity
