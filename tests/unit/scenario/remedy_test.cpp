#include "scenario/remedy.hpp"

#include "catch.hpp"
#include "scenario/run.hpp"

#include <string>
#include <vector>

using namespace servecast;

TEST_CASE("run and fit refuse a KV cache larger than the memory, with the number that fits") {
  const std::string key = "/pools/0/engine/num_gpu_blocks_override=";
  const scenario::Fits fits = scenario::fit_all(scenario::resolve({"quickstart", {key + "9999999"}, {}}));
  const std::string most = std::to_string(fits.pools[0].capacity.most_blocks);
  CHECK(fits.problem.find("num_gpu_blocks_override 9,999,999 needs") != std::string::npos);
  CHECK(fits.problem.find("--set " + key + most + " (now 9999999)") != std::string::npos);
  const scenario::RunOutcome out = scenario::run(scenario::resolve({"quickstart", {key + "9999999"}, {}}), {});
  CHECK(out.result.verdict.reason == fits.problem);
  CHECK(scenario::fit_all(scenario::resolve({"quickstart", {key + most}, {}})).problem.empty());
}

TEST_CASE("the remedy is what --set takes, and it helps") {
  const std::vector<std::vector<std::string>> misfits = {
      {"quickstart", "/pools/0/engine/num_gpu_blocks_override=1024"},
      {"quickstart", "/pools/0/engine/kv_cache_memory_gib=0.5"},
      {"quickstart", "/pools/0/engine/kv_cache_memory_gib=500"},
      {"quickstart", "/cluster/node=\"pcie-l40s\"", "/pools/0/precision={}", "/pools/0/parallel/tensor=1"},
      {"quickstart", "/model=deepseek-r1", "/pools/0/replicas=8", "/pools/0/parallel/tensor=1"},
      {"llama-405b", "/pools/0/parallel/tensor=2"}};
  for (const std::vector<std::string>& misfit : misfits) {
    std::vector<std::string> sets(misfit.begin() + 1, misfit.end());
    const scenario::Resolved r = scenario::resolve({misfit[0], sets, {}});
    INFO(sets[0]);
    REQUIRE_FALSE(scenario::fit_all(r).problem.empty());
    const auto remedy = scenario::smallest_change(scenario::fit_input(r, 0));
    REQUIRE(remedy);
    for (const scenario::Edit& e : remedy->edits) sets.push_back(e.key + "=" + e.to);
    CHECK(scenario::fit_all(scenario::resolve({misfit[0], sets, {}})).problem.empty());
  }
}

TEST_CASE("a run shows the KV cache that fit shows, also when nothing is left") {
  const scenario::Resolved r = scenario::resolve({"quickstart", {"/workload/requests=5"}, {}});
  const scenario::FitReport fit = scenario::fit_all(r).pools[0];
  const metrics::PoolMemory memory = scenario::run(r, {}).result.memory[0];
  CHECK(memory.blocks == fit.capacity.blocks);
  CHECK(memory.kv_tokens == fit.kv_tokens);
  const scenario::Resolved tight = scenario::resolve({"llama-405b", {"/pools/0/parallel/tensor=2"}, {}});
  CHECK(scenario::run(tight, {}).result.memory[0].kv_bytes == 0);
}
