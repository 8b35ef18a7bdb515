// The kernel profiles a stack names, loaded and compiled for one GPU. A profile measured on another GPU of the same
// architecture is transferred by specification, with a warning; a profile that does not exist is passed over, with a
// warning too.
#pragma once

#include "cost/measured.hpp"
#include "scenario/stack.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace servecast::scenario {

class LoadedKernels {
 public:
  // warnings: transfers and missing profiles, one line each, appended.
  LoadedKernels(const KernelSources& sources, const hardware::Gpu& gpu, std::vector<std::string>& warnings);

  const cost::KernelTables& tables() const { return tables_; }

 private:
  cost::KernelTables::List list(const std::vector<KernelChoice>& choices, const hardware::Gpu& gpu);
  const cost::kernels::Kernels* load(const std::string& stack, const hardware::Gpu& gpu);

  std::map<std::string, std::unique_ptr<cost::kernels::Kernels>> loaded_;  // by stack; null: not measured
  cost::KernelTables tables_;
  std::map<std::string, std::string> transferred_;  // stacks by the GPU they were measured on
  std::string missing_;                             // stacks without a profile that could serve
};

}  // namespace servecast::scenario
