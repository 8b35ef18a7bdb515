#include "metrics/energy.hpp"

namespace servecast::metrics {

EnergyUse measure_energy(const EnergyFacts& facts) {
  EnergyUse use;
  use.scaled = facts.scaled;
  const double gpus = static_cast<double>(facts.gpus);
  const double seconds = core::to_seconds(facts.duration);
  use.mean_gpu_w = facts.loaded_idle_w + (seconds > 0 && gpus > 0 ? facts.work_j / (gpus * seconds) : 0.0);
  use.mean_w = gpus * use.mean_gpu_w + facts.overhead_w;
  use.peak_w = gpus * (facts.loaded_idle_w + facts.peak_work_w) + facts.overhead_w;
  use.joules = use.mean_w * seconds;
  const double output = static_cast<double>(facts.output_tokens);
  const double all = output + static_cast<double>(facts.prompt_tokens);
  if (output > 0) use.joules_per_output_token = use.joules / output;
  if (all > 0) use.joules_per_token = use.joules / all;
  return use;
}

}  // namespace servecast::metrics
