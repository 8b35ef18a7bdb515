#include "scenario/kernel_tables.hpp"

#include "catch.hpp"
#include "config/json_reader.hpp"
#include "scenario/library.hpp"
#include "scenario/run.hpp"

#include <algorithm>

using namespace servecast;
using namespace servecast::scenario;

namespace {

hardware::Gpu gpu(const std::string& name) {
  return config::read<hardware::Gpu>(config::Document::from_text(*find(Kind::Gpu, name), name));
}

Stack stack(const std::string& name) {
  return config::read<Stack>(config::Document::from_text(*find(Kind::Stack, name), name));
}

std::vector<std::string> warnings_on(const std::string& name) {
  std::vector<std::string> warnings;
  const LoadedKernels loaded(*stack("vllm-0.19").kernel_tables, gpu(name), warnings);
  return warnings;
}

Resolved small_run() {
  Scenario s;
  s.name = "small";
  s.model.name = "llama-3.1-8b";
  s.cluster.node.name = "hgx-h100";
  s.pools.emplace_back().stack.name = "vllm-0.19";
  s.pools[0].engine.max_model_len = 4096;
  s.workload.arrivals.emplace().rate_per_s = 2;
  s.workload.requests = 50;
  s.workload.input_tokens.emplace().value = 500;
  s.workload.output_tokens.emplace().value = 50;
  return resolve(std::move(s), "test");
}

}  // namespace

TEST_CASE("a measured GPU needs no warning, another one is told of in one line") {
  CHECK(warnings_on("b200").empty());
  const auto h20 = warnings_on("h20");
  REQUIRE(h20.size() == 1);
  CHECK(h20[0].find("are transferred from h100 by specification: no h20 was measured") != std::string::npos);
  const auto amd = warnings_on("mi300x");
  REQUIRE(amd.size() == 1);
  CHECK(amd[0].find("serves a mi300x: operators keep their data-sheet times") != std::string::npos);
}

TEST_CASE("Ampere borrows Hopper's kernels, and a Blackwell Ultra those of the B200") {
  CHECK(warnings_on("a100-80gb").at(0).find("from h100") != std::string::npos);
  CHECK(warnings_on("b300").at(0).find("from b200") != std::string::npos);
}

TEST_CASE("every profile that a built-in stack names exists on the GPUs that were measured") {
  for (const Stack& s : built_in_stacks()) {
    if (!s.kernel_tables) continue;
    for (const char* name : {"b200", "h200", "h100"}) {
      std::vector<std::string> warnings;
      const LoadedKernels loaded(*s.kernel_tables, gpu(name), warnings);
      CHECK(warnings.empty());
    }
  }
}

TEST_CASE("a stack that names kernel profiles nobody has is refused with the nearest name") {
  std::string text(*find(Kind::Stack, "vllm-0.19"));
  const std::string name = "\"vllm-0.24\"";
  text.replace(text.find(name, text.find("\"decode\"")), name.size(), "\"vllm-0.42\"");
  CHECK_THROWS_WITH(
      config::read<Stack>(config::Document::from_text(text, "s.json")),
      Catch::Contains("s.json:/kernel_tables/decode/0/stacks: no kernel profiles are named \"vllm-0.42\"") &&
          Catch::Contains("there are sglang-0.5.14"));
}

TEST_CASE("a run says where its step times came from, in shares of one; fixed times come from nowhere") {
  const auto origin = run(small_run(), {}).result.origin;
  REQUIRE(origin);
  CHECK(origin->measured + origin->derived + origin->datasheet + origin->assumed == Approx(1));
  CHECK(origin->measured > 0.5);
  Resolved fixed = small_run();
  fixed.scenario.cost.fixed.emplace().step_us = 1000;
  CHECK_FALSE(run(fixed, {}).result.origin);
}
