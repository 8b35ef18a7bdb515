#include "scenario/memory_rates.hpp"

#include "scenario/kernel_profiles.hpp"

namespace servecast::scenario {
namespace {

using cost::kernels::Kernels;

constexpr double megabyte = 1e6;
constexpr double rows = 8;
constexpr double columns = 8192;
constexpr double bf16_bytes = 2;
constexpr double sequences = 32;
constexpr double heads = 32;
constexpr double kv_heads = 8;
constexpr double head_dim = 128;

double share(double bytes, const std::optional<cost::kernels::KernelTime>& t, const hardware::Gpu& gpu) {
  return t ? bytes / (t->seconds * gpu.memory_tb_s * 1e12) : 0.0;
}

MemoryRate rate(const Kernels& k, const hardware::Gpu& gpu, double bytes) {
  const double width = bytes / (columns * bf16_bytes);
  const double context = bytes / (sequences * 2 * kv_heads * head_dim * bf16_bytes);
  return {
      bytes, share(bytes, k.gemm({rows, columns, width, cost::kernels::DataType::Bf16}), gpu),
      share(bytes, k.decode({sequences, heads, kv_heads, head_dim, context, 0, cost::kernels::DataType::Bf16, false}),
            gpu)};
}

}  // namespace

MemoryRates memory_rates(const hardware::Gpu& gpu) {
  MemoryRates out;
  // The last profile is of the newest stack of its engine; any will do where all read the same memory.
  for (const KernelProfileName& name : kernel_profiles()) {
    if (name.gpu != gpu.name) continue;
    const auto profile = kernel_profile(name.stack, name.gpu);
    if (!profile) continue;
    const Kernels kernels(*profile, gpu);
    MemoryRates found = {name.stack, {}};
    for (const double mb : {4.0, 16.0, 64.0, 256.0, 1024.0}) found.rates.push_back(rate(kernels, gpu, mb * megabyte));
    if (found.rates.back().weights > 0 && found.rates.back().kv_cache > 0) out = std::move(found);
  }
  return out;
}

}  // namespace servecast::scenario
