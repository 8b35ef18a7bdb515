#include "scenario/kernel_profiles.hpp"

#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "scenario/kernel_paths.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>

namespace servecast::scenario {

namespace {

constexpr std::string_view stacks = "hardware_profiles/stacks/";
constexpr std::string_view folder = "/kernels/";
constexpr std::string_view extension = ".json";

}  // namespace

std::vector<KernelProfileName> kernel_profiles() {
  std::vector<KernelProfileName> out;
  for (const std::string& path : files_under(stacks)) {
    const std::size_t at = path.find(folder, stacks.size());
    if (at == std::string::npos || !path.ends_with(extension)) continue;
    const std::size_t gpu = at + folder.size();
    out.push_back(
        {path.substr(stacks.size(), at - stacks.size()), path.substr(gpu, path.size() - extension.size() - gpu)});
  }
  return out;
}

std::optional<cost::kernels::KernelProfile> kernel_profile(std::string_view stack, std::string_view gpu) {
  if (is_path(stack)) {
    const std::string file = kernel_file(std::string(stack), std::string(gpu));
    return config::read<cost::kernels::KernelProfile>(config::Document::load(file));
  }
  const std::string path = fmt::format("{}{}{}{}{}", stacks, stack, folder, gpu, extension);
  const auto text = find_file(path);
  if (!text) return std::nullopt;
  return config::read<cost::kernels::KernelProfile>(config::Document::from_text(*text, path));
}

}  // namespace servecast::scenario
