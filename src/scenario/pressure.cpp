#include "scenario/pressure.hpp"

#include "core/units.hpp"

#include <fmt/format.h>

namespace servecast::scenario {
namespace {

constexpr double stormy = 0.1;                // preemptions a request. Assumed
constexpr double highest_utilization = 0.95;  // beyond which engines run out of memory in production. Assumed

}  // namespace

std::string preemption_storm(const Pressure& p, const FitReport& fit, precision::Format kv_cache,
                             const hardware::Gpu& gpu) {
  if (static_cast<double>(p.preemptions) < stormy * static_cast<double>(p.requests) || p.preemptions == 0) return "";
  const engine::Settings& s = fit.settings;
  std::string ways;
  const auto add = [&ways](const std::string& way) { ways += (ways.empty() ? "" : ", ") + way; };
  if (p.max_num_seqs > fit.mean_requests && fit.mean_requests > 0)
    add(fmt::format("lower max_num_seqs from {} towards the {} of mean length that fit at once",
                    core::count_text(p.max_num_seqs), core::count_text(fit.mean_requests)));
  const bool sized = s.num_gpu_blocks_override || s.kv_cache_memory_gib;
  if (!sized && s.gpu_memory_utilization && *s.gpu_memory_utilization < highest_utilization)
    add(fmt::format("raise gpu_memory_utilization from {:g}", *s.gpu_memory_utilization));
  if (!sized && fit.capacity.activation_peak > 0)
    add(fmt::format("lower max_num_batched_tokens from {}, whose activations take {}",
                    core::count_text(*s.max_num_batched_tokens), core::bytes_text(fit.capacity.activation_peak)));
  if (precision::bytes_per_element(kv_cache) > 1 && gpu.dense.fp8 > 0)
    add("keep the KV cache in fp8 (precision/kv_cache)");
  add("give the pool more GPUs");
  return fmt::format("KV memory ran short: {} for {}; {}", core::counted(p.preemptions, "preemption"),
                     core::counted(p.requests, "request"), ways);
}

}  // namespace servecast::scenario
