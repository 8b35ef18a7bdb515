#include "scenario/inputs.hpp"

#include "core/sha256.hpp"
#include "scenario/build.hpp"

#include <filesystem>
#include <system_error>

namespace servecast::scenario {

void record_inputs(std::vector<metrics::InputHash>& inputs, std::string role, const config::Document& document) {
  for (const std::string& digest : document.digests()) {
    inputs.push_back({role, digest});
    role += "/extends";
  }
}

std::vector<metrics::InputHash> inputs_of(const Resolved& r) {
  std::vector<metrics::InputHash> inputs = r.inputs;
  const auto& trace = r.scenario.workload.trace;
  std::error_code ignored;
  // A pipe can be read once only.
  if (trace && std::filesystem::is_regular_file(*trace, ignored))
    inputs.push_back({"trace", core::sha256_of_file(*trace)});
  return inputs;
}

}  // namespace servecast::scenario
