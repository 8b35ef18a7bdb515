#include "report/result_json.hpp"

#include "config/json_text.hpp"
#include "metrics/result.hpp"
#include "report/precision.hpp"

#include <optional>

namespace servecast::report {

namespace {

using config::JsonWriter;

void write_verdict(JsonWriter& json, const metrics::Verdict& verdict) {
  json.value("verdict", metrics::state_names[static_cast<std::size_t>(verdict.state)]);
  json.value("reason", verdict.reason);
  if (!verdict.conclusive) json.value("conclusive", false);
  if (verdict.load_factor) json.value("load_factor", *verdict.load_factor);
}

void write_requests(JsonWriter& json, const metrics::Result& result) {
  json.begin_object("requests");
  json.value("arrived", result.requests.arrived);
  json.value("completed", result.requests.completed);
  json.value("unfinished", result.requests.unfinished());
  json.value("rejected", result.requests.rejected);
  json.value("preempted", result.requests.preempted);
  json.value("prompt_tokens", result.requests.prompt_tokens_completed);
  json.value("output_tokens", result.requests.output_tokens);
  if (!result.rejections.empty()) {
    json.begin_object("rejected_by_reason");
    for (const auto& [reason, count] : result.rejections) json.value(reason, count);
    json.end_object();
  }
  json.end_object();
}

// null where there is nothing behind the number.
void value_if(JsonWriter& json, bool known, std::string_view key, double value) {
  if (known)
    json.value(key, value);
  else
    json.null(key);
}

void write_distribution(JsonWriter& json, std::string_view key, const metrics::Distribution& d) {
  const bool known = d.count > 0;
  json.begin_object(key);
  value_if(json, known, "mean", d.mean);
  value_if(json, known, "p50", d.p50);
  value_if(json, known, "p90", d.p90);
  value_if(json, known, "p95", d.p95);
  value_if(json, known, "p99", d.p99);
  value_if(json, known, "max", d.max);
  json.end_object();
}

void write_latency(JsonWriter& json, const metrics::Latency& latency) {
  json.begin_object("latency");
  write_distribution(json, "ttft_ms", latency.ttft_ms);
  write_distribution(json, "tpot_ms", latency.tpot_ms);
  write_distribution(json, "itl_ms", latency.itl_ms);
  write_distribution(json, "e2e_ms", latency.e2e_ms);
  json.end_object();
}

void write_throughput(JsonWriter& json, const metrics::Result& result) {
  const metrics::Throughput& t = *result.throughput;
  const bool ran = metrics::has_rates(result);
  json.begin_object("throughput");
  value_if(json, ran, "requests_per_s", t.requests_per_s);
  value_if(json, ran, "output_tokens_per_s", t.output_tokens_per_s);
  value_if(json, ran, "total_tokens_per_s", t.total_tokens_per_s);
  value_if(json, ran, "output_tokens_per_s_per_gpu", t.output_tokens_per_s_per_gpu);
  value_if(json, t.tokens_per_s_per_user > 0, "tokens_per_s_per_user", t.tokens_per_s_per_user);
  json.end_object();
}

void write_use(JsonWriter& json, const metrics::KvUse& use) {
  json.begin_object("kv_use");
  json.value("token_states", use.token_states);
  json.value("reservation", use.reservation);
  json.value("internal_fragmentation", use.internal);
  json.value("external_fragmentation", use.external);
  json.value("free", use.free);
  json.end_object();
}

void write_tiers(JsonWriter& json, const metrics::TierFigures& t) {
  const auto moved = [&](const std::string& what, std::int64_t blocks) {
    json.value(what + "_blocks", blocks);
    json.value(what + "_bytes", static_cast<double>(blocks) * t.block_bytes);
  };
  json.begin_object("offload");
  json.value("device_hit_tokens", t.device_hit_tokens);
  json.value("host_hit_tokens", t.host_hit_tokens);
  json.value("nvme_hit_tokens", t.nvme_hit_tokens);
  moved("loaded", t.loaded_blocks);
  moved("stored", t.stored_blocks);
  moved("nvme_read", t.nvme_read_blocks);
  moved("nvme_written", t.nvme_written_blocks);
  json.value("load_link_utilisation", t.load_link_use);
  json.value("store_link_utilisation", t.store_link_use);
  json.value("nvme_read_utilisation", t.nvme_read_use);
  json.value("nvme_write_utilisation", t.nvme_write_use);
  json.value("held_up_share", t.held_up);
  json.end_object();
}

void write_memory(JsonWriter& json, const std::vector<metrics::PoolMemory>& pools) {
  json.begin_object("memory");
  for (const metrics::PoolMemory& pool : pools) {
    json.begin_object(pool.pool);
    json.value("replicas", pool.replicas);
    json.value("gpus", pool.gpus);
    json.value("weights_bytes", pool.weights_bytes);
    json.value("kv_bytes", pool.kv_bytes);
    json.value("other_bytes", pool.other_bytes);
    json.value("blocks", pool.blocks);
    json.value("block_size", pool.block_size);
    json.value("kv_tokens", pool.kv_tokens);
    json.value("peak_use", pool.peak_use);
    json.value("mean_use", pool.mean_use);
    write_use(json, pool.use);
    if (pool.prefix_hit_rate) json.value("prefix_hit_rate", *pool.prefix_hit_rate);
    if (pool.saved_by_sharing) json.value("saved_by_sharing", *pool.saved_by_sharing);
    json.value("preemptions", pool.preemptions);
    if (pool.swapped_out_blocks > 0) {
      json.value("swapped_out_blocks", pool.swapped_out_blocks);
      json.value("swapped_in_blocks", pool.swapped_in_blocks);
    }
    if (pool.copied_blocks > 0) json.value("copied_blocks", pool.copied_blocks);
    if (pool.tiers) write_tiers(json, *pool.tiers);
    json.end_object();
  }
  json.end_object();
}

void write_time(JsonWriter& json, const metrics::TimeShares& time) {
  json.begin_object("time");
  json.value("compute", time.compute);
  json.value("memory", time.memory);
  json.value("network", time.network);
  json.value("host", time.host);
  json.value("idle", time.idle);
  json.end_object();
}

void write_energy(JsonWriter& json, const metrics::Result& result) {
  const metrics::EnergyUse& energy = *result.energy;
  const bool any = result.requests.output_tokens > 0;
  json.begin_object("energy");
  value_if(json, any, "joules_per_output_token", energy.joules_per_output_token);
  value_if(json, any, "joules_per_token", energy.joules_per_token);
  json.value("mean_w", energy.mean_w);
  json.value("peak_w", energy.peak_w);
  json.value("mean_gpu_w", energy.mean_gpu_w);
  json.value("joules", energy.joules);
  json.value("origin", energy.scaled ? "derived" : "calibrated");
  json.end_object();
}

void write_cost(JsonWriter& json, const metrics::Result& result) {
  const metrics::TokenCost& cost = *result.cost;
  const bool any = result.requests.output_tokens > 0;
  json.begin_object("cost");
  value_if(json, any, "usd_per_million_output_tokens", cost.usd_per_million_output_tokens);
  value_if(json, any, "usd_per_million_input_tokens", cost.usd_per_million_input_tokens);
  value_if(json, any, "usd_per_million_blended_tokens", cost.usd_per_million_blended_tokens);
  json.value("usd_per_gpu_hour", cost.usd_per_gpu_hour);
  json.value("usd", cost.usd);
  json.end_object();
}

void write_confidence(JsonWriter& json, const metrics::Confidence& c) {
  json.begin_object("confidence");
  json.begin_object("half_width");
  if (c.ttft_ms) json.value("ttft_ms", *c.ttft_ms);
  if (c.tpot_ms) json.value("tpot_ms", *c.tpot_ms);
  if (c.e2e_ms) json.value("e2e_ms", *c.e2e_ms);
  json.end_object();
  json.value("warmup_dropped", c.warmup_dropped);
  json.value("warmup_conclusive", c.warmup_conclusive);
  json.value("effective_samples", c.effective_samples);
  json.value("lag1_correlation", c.lag1_correlation);
  json.end_object();
}

void write_origin(JsonWriter& json, const metrics::OriginShares& origin) {
  json.begin_object("origin");
  json.value("measured", origin.measured);
  json.value("derived", origin.derived);
  json.value("datasheet", origin.datasheet);
  json.value("assumed", origin.assumed);
  json.value("extrapolated", origin.extrapolated);
  json.end_object();
}

void write_identity(JsonWriter& json, const metrics::Result& result) {
  json.begin_array("warnings");
  for (const std::string& caution : result.cautions) json.element(caution);
  if (!result.energy && !result.no_energy.empty()) json.element("no energy: " + result.no_energy);
  for (const std::string& warning : result.warnings) json.element(warning);
  json.end_array();
  json.value("seed", result.seed);
  if (!result.fingerprint.empty()) json.value("fingerprint", result.fingerprint);
  json.value("tool_version", result.tool_version);
  json.begin_object("inputs");
  for (const metrics::InputHash& input : result.inputs) json.value(input.name, input.sha256);
  json.end_object();
}

}  // namespace

std::string result_json(const metrics::Result& result) {
  JsonWriter json;
  json.begin_object();
  json.value("scenario", result.scenario);
  if (result.partial) json.value("partial", true);
  write_verdict(json, result.verdict);
  const bool ran = result.verdict.state != metrics::State::Infeasible;
  if (ran) write_requests(json, result);
  if (result.duration_s) json.value("duration_s", *result.duration_s);
  if (result.gpus > 0) json.value("gpus", result.gpus);
  if (result.latency) write_latency(json, *result.latency);
  if (result.throughput) write_throughput(json, result);
  if (result.goodput) {
    const metrics::Goodput& g = *result.goodput;
    value_if(json, metrics::has_rates(result), "goodput_requests_per_s", g.requests_per_s);
    value_if(json, g.slo_attainment.has_value(), "slo_attainment", g.slo_attainment.value_or(0));
    if (g.undecided > 0) json.value("slo_undecided", g.undecided);
  }
  if (!result.memory.empty()) write_memory(json, result.memory);
  if (result.precision) write_precision(json, *result.precision);
  if (result.time) write_time(json, *result.time);
  if (result.limiting_resource) json.value("limiting_resource", *result.limiting_resource);
  if (result.energy)
    write_energy(json, result);
  else if (!result.no_energy.empty())
    json.null("energy");
  if (result.cost) write_cost(json, result);
  if (result.confidence) write_confidence(json, *result.confidence);
  if (result.origin) write_origin(json, *result.origin);
  if (ran) json.value("steps", result.steps);
  write_identity(json, result);
  json.end_object();
  return json.text();
}

}  // namespace servecast::report
