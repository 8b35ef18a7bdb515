#include "scenario/kernel_paths.hpp"

#include "core/sha256.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace servecast::scenario {

std::string kernel_file(const std::string& folder, const std::string& gpu) {
  return fmt::format("{}/kernels/{}.json", folder, gpu);
}

void resolve_kernel_paths(const std::string& gpu, config::Document& document, Stack& stack,
                          std::vector<metrics::InputHash>& inputs, core::Problems& problems) {
  if (!stack.kernel_tables) return;
  KernelSources& k = *stack.kernel_tables;
  const std::pair<std::string_view, std::vector<KernelChoice>*> operators[] = {
      {"gemm", &k.gemm}, {"decode", &k.decode}, {"prefill", &k.prefill}, {"moe", &k.moe}, {"all_reduce", &k.all_reduce}};
  for (const auto& [name, choices] : operators)
    for (std::size_t i = 0; i < choices->size(); ++i)
      for (std::size_t j = 0; j < (*choices)[i].stacks.size(); ++j) {
        std::string& folder = (*choices)[i].stacks[j];
        if (!is_path(folder)) continue;
        const std::string pointer = fmt::format("/kernel_tables/{}/{}/stacks/{}", name, i, j);
        const std::string place = document.place(pointer);
        folder = std::filesystem::absolute(resolve_path(place, folder)).lexically_normal().string();
        const std::string file = kernel_file(folder, gpu);
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(file, ignored)) {
          problems.add(place, "{} does not exist; `servecast calibrate fit` writes it", file);
          continue;
        }
        document.set(fmt::format("{}={}", pointer, folder), problems);
        const std::string role = fmt::format("kernels/{}", std::filesystem::path(folder).filename().string());
        const bool known = std::any_of(inputs.begin(), inputs.end(), [&role](const auto& one) { return one.name == role; });
        if (!known) inputs.push_back({role, core::sha256_of_file(file)});
      }
}

}  // namespace servecast::scenario
