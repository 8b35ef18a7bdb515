// Models whose layers keep different things, from the scenario to the result.
#include "scenario/layer_rules.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "scenario/build.hpp"
#include "scenario/run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace servecast;

namespace {

constexpr std::string_view text = R"({
  "version": 1, "name": "layers", "seed": 3,
  "model": "gpt-oss-20b",
  "cluster": { "node": "hgx-b200", "nodes": 1 },
  "pools": [ { "name": "a", "replicas": 1, "stack": "vllm-0.19",
               "engine": { "max_model_len": 4096, "max_num_batched_tokens": 4096, "max_num_seqs": 16 } } ],
  "workload": { "arrivals": { "process": "poisson", "rate_per_s": 4 },
                "input_tokens": { "distribution": "uniform", "min": 1500, "max": 3600 },
                "output_tokens": { "distribution": "uniform", "min": 1, "max": 100 }, "requests": 200,
                "shared_prefix": { "families": 2, "tokens": 1400, "share": 0.7 } },
  "cost": { "fixed": { "step_us": 10000, "prefill_token_us": 10 } }
})";

scenario::Resolved resolved(const std::vector<std::string>& sets) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("servecast-layers-test-" + std::to_string(getpid()) + ".json");
  std::ofstream(path, std::ios::binary) << text;
  return scenario::resolve({path.string(), sets, {}});
}

metrics::Result result_of(const std::vector<std::string>& sets) { return scenario::run(resolved(sets), {}).result; }

std::string refusal_of(const std::vector<std::string>& sets) {
  try {
    result_of(sets);
  } catch (const core::InputError& error) {
    const std::string line = error.lines().front();
    return line.substr(line.find(":/") + 1);
  }
  return "";
}

bool warns(const metrics::Result& result, const std::string& part) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const std::string& warning) { return warning.find(part) != std::string::npos; });
}

const std::string hybrid = "/model=qwen3.5-35b-a3b";
const std::string cached = "/pools/0/engine/enable_prefix_caching=true";

}  // namespace

TEST_CASE("windowed layers run on the pool that fit finds, and nothing is set aside") {
  const scenario::Resolved r = resolved({});
  const scenario::FitReport fit = scenario::fit_all(r).pools[0];
  REQUIRE(fit.kv.kinds.size() == 2);
  CHECK(fit.engine_blocks == fit.capacity.usable_blocks);
  CHECK(fit.seats == 16);
  const metrics::Result result = scenario::run(r, {}).result;
  CHECK(result.requests.completed == 200);
  CHECK(result.memory[0].prefix_hit_rate > 0.2);
  CHECK_FALSE(warns(result, "set aside"));
  CHECK_FALSE(warns(result, "SGLang"));
}

TEST_CASE("prefixes of a model with states are cached where the scenario asks for it, at the edges of blocks") {
  const metrics::Result plain = result_of({hybrid});
  CHECK_FALSE(plain.memory[0].prefix_hit_rate.has_value());
  CHECK_FALSE(warns(plain, "set aside"));
  const metrics::Result hits = result_of({hybrid, cached});
  // 70 % of requests begin with 1,400 tokens, of which a state after 1,056 is kept where the first prompt stopped there
  CHECK(*hits.memory[0].prefix_hit_rate > 0.0);
  CHECK(*hits.memory[0].prefix_hit_rate < 0.7 * 1056 / 2550);
}

TEST_CASE("settings that groups of layers exclude are refused by name") {
  CHECK(refusal_of({"/pools/0/engine/kv_offload_gib=10"}) ==
        "/pools/0/engine/kv_offload_gib: cached prefixes in host memory are not in this version of servecast for the "
        "groups of layers of gpt-oss-20b, which share a pool; leave it out");
  CHECK(
      refusal_of({"/pools/0/engine/kv_allocation=contiguous_max", "/pools/0/engine/enable_prefix_caching=false",
                  "/pools/0/engine/async_scheduling=false"}) ==
      "/pools/0/engine/kv_allocation: contiguous regions are not for the groups of layers of gpt-oss-20b, which share "
      "a pool; use paged");
  CHECK(refusal_of({hybrid, cached, "/pools/0/engine/max_num_batched_tokens=1024"}) ==
        "/pools/0/engine/max_num_batched_tokens: 1024 is below the 1056 tokens between cached states; raise it, or set "
        "enable_prefix_caching to false");
  CHECK(refusal_of({hybrid, cached, "/pools/0/stack=trtllm-1"}) ==
        "/pools/0/engine/enable_prefix_caching: TensorRT-LLM reuses no blocks of a model with recurrent states, as "
        "qwen3.5-35b-a3b is; set it to false");
  CHECK(refusal_of({"/model=llama-3.2-11b-vision", cached}) ==
        "/pools/0/engine/enable_prefix_caching: vLLM caches no prefixes of a model that attends to an encoder, as "
        "llama-3.2-11b-vision does; set it to false");
}

TEST_CASE("pools that SGLang has and a run does not are named") {
  CHECK(warns(result_of({"/pools/0/stack=sglang-0.5"}), "SGLang keeps layers with a window in a pool of their own"));
  CHECK(warns(result_of({hybrid, "/pools/0/stack=sglang-0.5"}), "an upper bound on hits"));
}
