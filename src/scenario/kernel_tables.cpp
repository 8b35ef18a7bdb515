#include "scenario/kernel_tables.hpp"

#include "scenario/kernel_profiles.hpp"

#include <fmt/format.h>

#include <optional>

namespace servecast::scenario {
namespace {

// The GPU's own profile, else the first of its architecture.
std::optional<cost::kernels::KernelProfile> nearest_profile(const std::string& stack, const hardware::Gpu& gpu) {
  if (auto own = kernel_profile(stack, gpu.name)) return own;
  for (const KernelProfileName& name : kernel_profiles()) {
    if (name.stack != stack) continue;
    auto other = kernel_profile(stack, name.gpu);
    if (other && other->architecture == gpu.architecture) return other;
  }
  return std::nullopt;
}

}  // namespace

LoadedKernels::LoadedKernels(const KernelSources& s, const hardware::Gpu& gpu, std::vector<std::string>& warnings) {
  tables_.gemm = list(s.gemm, gpu, warnings);
  tables_.decode = list(s.decode, gpu, warnings);
  tables_.prefill = list(s.prefill, gpu, warnings);
  tables_.moe = list(s.moe, gpu, warnings);
  tables_.all_reduce = list(s.all_reduce, gpu, warnings);
}

cost::KernelTables::List LoadedKernels::list(const std::vector<std::string>& stacks, const hardware::Gpu& gpu,
                                             std::vector<std::string>& warnings) {
  cost::KernelTables::List out;
  for (const std::string& stack : stacks) {
    const auto [at, added] = loaded_.try_emplace(stack);
    if (added) {
      if (const auto profile = nearest_profile(stack, gpu)) {
        at->second = std::make_unique<cost::kernels::Kernels>(*profile, gpu);
        if (at->second->transferred())
          warnings.push_back(
              fmt::format("kernel times of {} are transferred from {} by specification: no {} was measured", stack,
                          profile->gpu, gpu.name));
      } else {
        warnings.push_back(fmt::format("no kernel profile of {} serves a {}: its operators keep their data-sheet times",
                                       stack, gpu.name));
      }
    }
    if (at->second) out.push_back(at->second.get());
  }
  return out;
}

}  // namespace servecast::scenario
