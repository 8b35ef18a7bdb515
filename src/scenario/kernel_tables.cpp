#include "scenario/kernel_tables.hpp"

#include "scenario/kernel_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace servecast::scenario {
namespace {

// Architectures that nobody measured, and the one of the same maker whose kernels are nearest in shape (assumed).
std::string_view stands_for(std::string_view architecture) {
  if (architecture == "blackwell_ultra") return "blackwell";
  if (architecture == "ampere" || architecture == "ada") return "hopper";
  return architecture;
}

// The GPU's own profile, else the first of its architecture or of the one that stands for it.
std::optional<cost::kernels::KernelProfile> nearest_profile(const std::string& stack, const hardware::Gpu& gpu) {
  if (auto own = kernel_profile(stack, gpu.name)) return own;
  for (const KernelProfileName& name : kernel_profiles()) {
    if (name.stack != stack) continue;
    auto other = kernel_profile(stack, name.gpu);
    if (other && other->architecture == stands_for(gpu.architecture)) return other;
  }
  return std::nullopt;
}

void join(std::string& list, const std::string& name) { list += (list.empty() ? "" : ", ") + name; }

}  // namespace

LoadedKernels::LoadedKernels(const KernelSources& s, const hardware::Gpu& gpu, std::vector<std::string>& warnings) {
  tables_.gemm = list(s.gemm, gpu);
  tables_.decode = list(s.decode, gpu);
  tables_.prefill = list(s.prefill, gpu);
  tables_.moe = list(s.moe, gpu);
  tables_.all_reduce = list(s.all_reduce, gpu);
  tables_.quantise = tables_.gemm;  // whoever multiplies converts
  for (cost::TableChoice& choice : tables_.quantise) choice.types.clear();
  for (const auto& [from, stacks] : transferred_)
    warnings.push_back(fmt::format("kernel times of {} are transferred from {} by specification: no {} was measured",
                                   stacks, from, gpu.name));
  if (!missing_.empty())
    warnings.push_back(
        fmt::format("no kernel profile of {} serves a {}: operators keep their data-sheet times", missing_, gpu.name));
}

cost::KernelTables::List LoadedKernels::list(const std::vector<KernelChoice>& choices, const hardware::Gpu& gpu) {
  cost::KernelTables::List out;
  for (const KernelChoice& choice : choices) {
    const auto& only = choice.architectures;
    if (!only.empty() && std::find(only.begin(), only.end(), gpu.architecture) == only.end()) continue;
    cost::TableChoice tables{{}, choice.types, choice.kernel};
    for (const std::string& stack : choice.stacks)
      if (const cost::kernels::Kernels* k = load(stack, gpu)) tables.tables.push_back(k);
    if (!tables.tables.empty()) out.push_back(std::move(tables));
  }
  return out;
}

const cost::kernels::Kernels* LoadedKernels::load(const std::string& stack, const hardware::Gpu& gpu) {
  const auto [at, added] = loaded_.try_emplace(stack);
  if (!added) return at->second.get();
  const auto profile = nearest_profile(stack, gpu);
  if (!profile) {
    join(missing_, stack);
    return nullptr;
  }
  at->second = std::make_unique<cost::kernels::Kernels>(*profile, gpu);
  if (at->second->transferred()) join(transferred_[profile->gpu], stack);
  return at->second.get();
}

}  // namespace servecast::scenario
