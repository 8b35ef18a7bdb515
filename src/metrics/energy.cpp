#include "metrics/energy.hpp"

#include <algorithm>

namespace servecast::metrics {

EnergyUse measure_energy(const EnergyFacts& facts) {
  const PowerModel& p = facts.power;
  const double room = std::max(0.0, p.limit_w - p.idle_w);
  const double rest = std::min(p.limit_w, p.loaded_idle * p.idle_w);
  struct State {
    double share;
    double watts;
  };
  const State states[] = {{facts.time.compute, std::min(p.limit_w, p.idle_w + p.compute_activity * room)},
                          {facts.time.memory, std::min(p.limit_w, p.idle_w + p.memory_activity * room)},
                          {facts.time.network, std::min(p.limit_w, p.idle_w + p.network_activity * room)},
                          {facts.time.host, rest},
                          {facts.time.idle, rest}};
  EnergyUse use;
  double peak_gpu_w = 0;
  for (const State& state : states) {
    use.mean_gpu_w += state.share * state.watts;
    if (state.share > 0) peak_gpu_w = std::max(peak_gpu_w, state.watts);
  }
  const double gpus = static_cast<double>(facts.gpus);
  use.mean_w = gpus * use.mean_gpu_w + facts.overhead_w;
  use.peak_w = gpus * peak_gpu_w + facts.overhead_w;
  use.joules = use.mean_w * core::to_seconds(facts.duration);
  const double output = static_cast<double>(facts.output_tokens);
  const double all = output + static_cast<double>(facts.prompt_tokens);
  if (output > 0) use.joules_per_output_token = use.joules / output;
  if (all > 0) use.joules_per_token = use.joules / all;
  return use;
}

}  // namespace servecast::metrics
