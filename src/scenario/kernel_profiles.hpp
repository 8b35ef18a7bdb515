// Kernel profiles built into the binary: one per stack and GPU that was measured, in
// hardware_profiles/stacks/<stack>/kernels/<gpu>.json.
#pragma once

#include "cost/kernels/profile.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::scenario {

struct KernelProfileName {
  std::string stack;  // folder, e.g. "vllm-0.19"
  std::string gpu;
};

// Ascending by stack, then GPU.
std::vector<KernelProfileName> kernel_profiles();
// The profile of a stack on a GPU; nothing if that was not measured. A name that is a path means a folder
// on disk (kernel_paths.hpp). Throws core::InputError if it is malformed.
std::optional<cost::kernels::KernelProfile> kernel_profile(std::string_view stack, std::string_view gpu);

}  // namespace servecast::scenario
