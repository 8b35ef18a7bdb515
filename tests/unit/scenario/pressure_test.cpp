#include "scenario/pressure.hpp"

#include "catch.hpp"
#include "core/units.hpp"

using namespace servecast;
using scenario::preemption_storm;

namespace {

scenario::FitReport report() {
  scenario::FitReport r;
  r.mean_requests = 30;
  r.capacity.activation_peak = 2 * core::GiB;
  r.settings.gpu_memory_utilization = 0.9;
  r.settings.max_num_batched_tokens = 8192;
  return r;
}

}  // namespace

TEST_CASE("rare preemptions are no storm") {
  CHECK(preemption_storm({9, 100, 256}, report(), precision::Format::BFloat16, {}).empty());
  CHECK(preemption_storm({0, 0, 256}, report(), precision::Format::BFloat16, {}).empty());
}

TEST_CASE("a storm names the settings that would ease it, with their values") {
  hardware::Gpu gpu;
  gpu.dense.fp8 = 1000;
  CHECK(preemption_storm({150, 100, 256}, report(), precision::Format::BFloat16, gpu) ==
        "KV memory ran short: 150 preemptions for 100 requests; lower max_num_seqs from 256 towards the 30 of mean "
        "length "
        "that fit at once, raise gpu_memory_utilization from 0.9, lower max_num_batched_tokens from 8,192, whose "
        "activations take 2.00 GiB, keep the KV cache in fp8 (precision/kv_cache), give the pool more GPUs");
}

TEST_CASE("settings that are at their end, or that the user's own pool size overrides, are not named") {
  scenario::FitReport r = report();
  r.settings.num_gpu_blocks_override = 100;
  CHECK(preemption_storm({150, 100, 20}, r, precision::Format::Fp8, {}) ==
        "KV memory ran short: 150 preemptions for 100 requests; give the pool more GPUs");
}
