// Closed loops with a fixed number of clients: mean TTFT over the whole run, its initial burst included, and mean TPOT.
#include "fidelity/deploy.hpp"
#include "fidelity/doubtful.hpp"

#include <fmt/format.h>

#include <cmath>

namespace servecast::fidelity {

namespace {

constexpr std::int64_t requests_per_client = 10;  // derived: what the mean TTFT of the rows implies
constexpr double least_share = 0.8;               // of nominal lengths, where they vary

workload::LengthConfig length(std::int64_t nominal, bool varies) {
  workload::LengthConfig c;
  if (!varies) {
    c.value = static_cast<std::int32_t>(nominal);
    return c;
  }
  c.distribution = workload::Distribution::Uniform;
  c.min = static_cast<std::int32_t>(std::ceil(least_share * static_cast<double>(nominal)));
  c.max = static_cast<std::int32_t>(nominal);
  return c;
}

void set_workload(const Load& load, const RowOptions& options, scenario::Scenario& s) {
  const bool varies = lengths_vary(load);
  s.workload.input_tokens = length(load.isl, varies);
  s.workload.output_tokens = length(load.osl, varies);
  s.workload.closed_loop = {load.concurrency + options.extra_clients, requests_per_client * load.concurrency};
  if (options.extra_clients > 0) s.pools[0].engine.max_num_seqs = static_cast<std::int32_t>(load.concurrency);
}

RowOptions options_of(const CsvRow& row, const RowContext& context, const Placed& placed, const Load& load) {
  RowOptions o;
  if (context.series_clients) o = client_settings(placed.deployment, load, placed.sizes.tensor);
  if (const auto interval = number_in(row, "stream_interval")) o.stream_interval = static_cast<std::int32_t>(*interval);
  if (const auto extra = number_in(row, "extra_clients")) o.extra_clients = static_cast<std::int32_t>(*extra);
  return o;
}

void add_measures(const CsvRow& row, const Load& load, const Placed* placed, Case& out) {
  for (const char* metric : {"ttft_ms", "tpot_ms"}) {
    const auto value = number_in(row, metric);
    if (!value) continue;
    Measure& m = out.measures.emplace_back();
    m.metric = metric;
    m.measured = *value;
    const std::int32_t tensor = placed != nullptr ? placed->sizes.tensor : 1;
    m.doubt = doubt({out.model, out.gpu, out.engine, text_of(row, "weight_precision"), tensor, load.isl, load.osl,
                     load.concurrency},
                    metric);
  }
}

}  // namespace

Case serving_case(const CsvRow& row, const RowContext& context) {
  Case out;
  out.id = text_of(row, "id");
  const auto whole = [&row](const char* column) {
    return static_cast<std::int64_t>(number_in(row, column).value_or(0));
  };
  const Load load{whole("isl"), whole("osl"), whole("concurrency")};
  Placed placed;
  const bool ok =
      place({text_of(row, "model"), text_of(row, "gpu"), text_of(row, "engine"), text_of(row, "weight_precision"),
             text_of(row, "moe_precision"), text_of(row, "kv_precision"), text_of(row, "parallelism")},
            context, out, placed);
  add_measures(row, load, ok ? &placed : nullptr, out);
  out.shape = fmt::format("tp {}, {}/{}, concurrency {}", sizes_of(text_of(row, "parallelism")).tensor, load.isl,
                          load.osl, load.concurrency);
  if (!ok) return out;
  if (load.concurrency < 1)
    out.refuse("no concurrency stated");
  else if (load.isl < 1 || load.osl < 1)
    out.refuse("no lengths stated");
  else if (placed.sizes.tensor < 1)
    out.refuse("no parallelism stated");
  else if (const std::string mode = text_of(row, "mode"); !mode.empty() && mode != "agg")
    out.refuse("prefill and decode are disaggregated");
  else if (out.measures.empty())
    out.refuse("no measured value");
  if (out.fate == Fate::Refused || !configure(placed, load, out)) return out;
  for (const Measure& m : out.measures)
    if (m.measured <= 0) out.refuse("measured value is not positive");
  if (out.fate == Fate::Refused) return out;
  out.options = options_of(row, context, placed, load);
  out.gpus = out.scenario->pools[0].parallel.gpus();
  set_workload(load, out.options, *out.scenario);
  return out;
}

}  // namespace servecast::fidelity
