// A hand-made Result with every part present.
#pragma once

#include "metrics/result.hpp"

namespace servecast::report::sample {

inline metrics::Result full() {
  metrics::Result r;
  r.scenario = "chat-70b-b200";
  r.verdict = {metrics::State::Stable, "requests were served as fast as they arrived", 0.625};
  r.requests.arrived = 20000;
  r.requests.completed = 19990;
  r.requests.rejected = 7;
  r.requests.preempted = 12;
  r.requests.prompt_tokens_completed = 23100000;
  r.requests.output_tokens = 4220000;
  r.rejections = {{"longer than max_model_len 16384", 7}};
  r.duration_s = 1000.0;
  r.gpus = 8;
  r.latency = metrics::Latency{{19990, 350, 312, 610, 780.5, 1240.25, 2500},
                               {19000, 31.5, 30, 36, 37, 38.25, 45},
                               {4200000, 31, 29.5, 40, 44, 60.5, 400},
                               {19990, 7000, 6500, 12000, 15000, 19500, 31000}};
  r.throughput = metrics::Throughput{19.99, 4220, 27320, 527.5, 31.75};
  r.targets = {2000.0, 50.0, {}};
  r.goodput = metrics::Goodput{19.8, 0.99, 19800};
  r.memory = {
      {"serve", 4, 8, 4.0e10, 1.2e11, 5.0e9, 30424, 16, 486784, 0.71, 0.4, {0.375, 0, 0.025, 0, 0.6}, 12, 0.25, {}}};
  r.time = metrics::TimeShares{0.2, 0.4, 0.0625, 0.0375, 0.3};
  r.limiting_resource = "memory_bandwidth";
  r.energy = metrics::EnergyUse{6200000, 1.47, 0.227, 6200, 7900, 650};
  r.cost = metrics::TokenCost{2.9, 6.444, 1.527, 0.279, 0.236};
  r.confidence = metrics::Confidence{200, true, 4312, 0.05, 3.25, 0.5, 90.0};
  r.origin = metrics::OriginShares{0.0, 0.25, 0.5, 0.25, 0.1};
  r.steps = 123456;
  r.warnings = {
      "the step cost is not calibrated for this GPU: figures rest on datasheet peaks and assumed efficiencies"};
  r.seed = 1;
  r.fingerprint = "0123456789abcdef";
  r.tool_version = "0.1.0";
  r.inputs = {{"scenario", "aa11"}, {"model", "bb22"}};
  return r;
}

inline metrics::Result infeasible() {
  metrics::Result r;
  r.scenario = "too-big";
  r.verdict = metrics::infeasible("weights need 203 GiB per GPU, 160 GiB are available");
  r.seed = 1;
  r.tool_version = "0.1.0";
  return r;
}

}  // namespace servecast::report::sample
