#include "scenario/scenario.hpp"

#include "core/time.hpp"

#include <fmt/format.h>

#include <set>

namespace servecast::scenario {

namespace {

constexpr std::string_view not_yet = "not in this version of servecast";

void check_names(config::Fields& f, const Scenario& s) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < s.pools.size(); ++i) {
    const Pool& pool = s.pools[i];
    if (!seen.insert(pool.name).second)
      f.problem("pools", fmt::format("pools 0 to {} hold the name \"{}\" twice; names are unique", i, pool.name));
  }
}

}  // namespace

void describe(config::Fields& f, Cluster& c) {
  f.required("node", c.node, "kind of machine: a node profile's name, a path, or the profile inline");
  f.field("nodes", c.nodes, config::closed(1, 100'000), "number of machines");
}

void describe(config::Fields& f, Precision& p) {
  f.field("weights", p.weights, "format of attention, MLP and expert weights; absent: as the model file states");
  f.field("activations", p.activations, "format of activations entering matrix products; absent: follows the weights");
  f.field("kv_cache", p.kv_cache, "format of the KV cache; absent: the engine's automatic choice");
  f.field("attention", p.attention, "format of attention projections, over weights");
  f.field("mlp", p.mlp, "format of dense MLP and shared-expert weights, over weights");
  f.field("experts", p.experts, "format of routed-expert weights, over weights");
  f.field("router", p.router, "format of the expert router; absent: as the model file states");
  f.field("lm_head", p.lm_head, "format of the output projection; absent: as the model file states");
  f.field("embedding", p.embedding, "format of the input embedding; absent: as the model file states");
  f.field("policy", p.policy,
          "stated: the formats above; dynamic: MLP and experts of each block get the narrowest of nvfp4, fp8 and bf16 "
          "that keeps quality_floor_db");
  f.field("quality_floor_db", p.quality_floor_db, config::closed(0, 60),
          "of the dynamic policy: least signal over quantisation noise of a block's weights and inputs; absent: 18");
  f.field("conversion", p.conversion,
          "who turns inputs into FP8 or FP4: as many kernels as the stack's constants say; fused: the tensor pipeline "
          "(Blackwell); kernel: one of its own for each input");
  if (!f.reading()) return;
  if (p.policy == PrecisionPolicy::Stated) {
    if (p.quality_floor_db) f.problem("quality_floor_db", "belongs to the dynamic policy; set policy to \"dynamic\"");
    return;
  }
  const auto chosen = [&f](std::string_view key, bool given) {
    if (given) f.problem(key, "the dynamic policy chooses it; leave it out, or set policy to \"stated\"");
  };
  chosen("weights", p.weights.has_value());
  chosen("mlp", p.mlp.has_value());
  chosen("experts", p.experts.has_value());
  chosen("activations", p.activations.has_value());
}

void describe(config::Fields& f, Pool& p) {
  f.field("name", p.name, "unique name of the pool");
  f.field("role", p.role, "what its replicas do; prefill and decode are refused in this version");
  f.field("replicas", p.replicas, config::closed(1, 100'000), "number of independent serving replicas");
  f.required("stack", p.stack, "serving engine with its version: a stack's name, a path, or the stack inline");
  f.field("parallel", p.parallel, "how one replica spreads over GPUs");
  f.field("precision", p.precision, "number formats, over the model's own");
  f.field("device", p.device, "what-ifs of the GPUs: use of their dies, link between dies, power limit");
  f.field("engine", p.engine, "engine settings, over the stack's own");
  f.field(
      "draft_model", p.draft_model,
      "draft model of speculative decoding, whose weights and KV layers fit counts; run refuses it in this version");
  f.field("speculative", p.speculative, "speculative decoding; refused in this version");
  if (!f.reading()) return;
  if (p.name.empty()) f.problem("name", "a pool's name must not be empty");
  if (p.role != Role::Unified)
    f.problem("role", fmt::format("split prefill and decode pools are {}; use \"unified\"", not_yet));
  if (!p.speculative.empty())
    f.problem("speculative", fmt::format("speculative decoding is {}; remove the section", not_yet));
}

void describe(config::Fields& f, Router& r) { f.field("policy", r.policy, "how a request finds its replica"); }

void describe(config::Fields& f, Slo& s) {
  f.field("ttft_ms", s.ttft_ms, config::above(0), "target of time to first token");
  f.field("tpot_ms", s.tpot_ms, config::above(0), "target of mean time per output token after the first");
  f.field("e2e_ms", s.e2e_ms, config::above(0), "target of end-to-end latency");
  f.field("percentile", s.percentile, {0, 100, true, true}, "percentile at which the targets must hold");
}

void describe(config::Fields& f, Price& p) {
  f.field("gpu_hour_usd", p.gpu_hour_usd, config::above(0),
          "price of one GPU for one hour; absent: the GPU profile's indicative price");
}

void describe(config::Fields& f, Threshold& t) {
  f.required("metric", t.metric, "JSON pointer into the result, e.g. /latency/ttft_ms/p99");
  f.field("max", t.max, "fails above this value");
  f.field("min", t.min, "fails below this value");
  if (!f.reading()) return;
  if (!t.max && !t.min) f.problem("", "a threshold needs max, min or both");
  if (t.max && t.min && *t.min > *t.max) f.problem("min", fmt::format("min {} is above max {}", *t.min, *t.max));
  if (!t.metric.empty() && t.metric[0] != '/')
    f.problem("metric",
              fmt::format("\"{}\" is no JSON pointer; it starts with /, e.g. /latency/ttft_ms/p99", t.metric));
}

void describe(config::Fields& f, Limits& l) {
  f.field("max_simulated_s", l.max_simulated_s, config::above(0, core::longest_run_s),
          "simulated time after which the run ends, in seconds");
  f.field("drain", l.drain,
          "true: serve what is left after the last arrival; false: stop there and count what is unfinished");
}

void describe(config::Fields& f, Cost& c) {
  f.field("fixed", c.fixed, "constant step times instead of the cost model: for tests, never for a forecast");
}

void describe(config::Fields& f, Scenario& s) {
  f.required("version", s.version, config::closed(1, 1), "version of this document's format");
  f.field("name", s.name, "shown in results");
  f.field("description", s.description, "free text");
  f.field("seed", s.seed, "seed of every random stream");
  f.required("model", s.model, "model: a model's name, a path, or the model inline");
  f.required("cluster", s.cluster, "machines");
  f.required("pools", s.pools, "groups of equal replicas");
  f.field("router", s.router, "distribution of requests over replicas");
  f.required("workload", s.workload, "requests: open arrivals, a trace or a closed loop");
  f.field("slo", s.slo, "latency targets");
  f.field("price", s.price, "prices");
  f.field("thresholds", s.thresholds, "pass/fail expressions over the result; a failed one exits 4");
  f.field("limits", s.limits, "when the run ends");
  f.field("cost", s.cost, "replacement of the cost model");
  if (!f.reading()) return;
  if (s.pools.size() > 1)
    f.problem("pools", fmt::format("{} pools given; this version serves with one pool", s.pools.size()));
  check_names(f, s);
}

}  // namespace servecast::scenario
