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

TEST_CASE("decode context parallelism is for ranks that hold the same head, and a run needs stated step times") {
  const std::string model = "/model=llama-3.1-8b";
  CHECK(refusal_of({model, R"(/pools/0/parallel={"tensor": 4, "decode_context": 2})"}) ==
        "/pools/0/parallel/decode_context: 2 is above 1, the tensor ranks that hold the same one of the 8 KV heads of "
        "llama-3.1-8b; lower it");
  CHECK(refusal_of({R"(/pools/0/parallel={"tensor": 8, "decode_context": 2})"}).find("keep different things") !=
        std::string::npos);
  const std::string latent = "/model=deepseek-v3", split = R"(/pools/0/parallel={"tensor": 8, "decode_context": 8})";
  CHECK(refusal_of({latent, split, "/pools/0/stack=sglang-0.5"}) ==
        "/pools/0/parallel/decode_context: 8 is not for stack sglang-0.5, which does not know it; use 1");
  const scenario::FitReport whole = scenario::fit_all(resolved({latent, "/pools/0/parallel/tensor=8"})).pools[0];
  const scenario::FitReport shared = scenario::fit_all(resolved({latent, split})).pools[0];
  CHECK(shared.kv.block_size == 8 * whole.kv.block_size);
  CHECK(shared.kv_tokens == 8 * whole.kv_tokens);
  CHECK(result_of({latent, split}).requests.completed == 200);
  const scenario::Resolved priced = scenario::resolve({"quickstart", {latent, split, "/pools/0/replicas=1"}, {}});
  CHECK_THROWS_WITH(scenario::run(priced, {}), Catch::Contains("step times leave out the gather of queries"));
}

TEST_CASE("a draft model's layers and weights take memory of the pool, and a run refuses it") {
  const std::string model = "/model=llama-3.1-70b", draft = "/pools/0/draft_model=llama-3.2-1b";
  const std::string two = "/pools/0/parallel/tensor=2";
  const scenario::FitReport alone = scenario::fit_all(resolved({model, two})).pools[0];
  const scenario::FitReport both = scenario::fit_all(resolved({model, two, draft})).pools[0];
  CHECK(both.kv.bytes_per_token - alone.kv.bytes_per_token == 16 * 2 * 4 * 64 * 2);  // 16 layers, 4 heads of 64 a rank
  CHECK(both.draft_bytes > 1.2e9);
  CHECK(both.capacity.weights - alone.capacity.weights == both.draft_bytes);
  CHECK(both.kv_tokens < alone.kv_tokens);
  CHECK(refusal_of({model, two, draft}) ==
        "/pools/0/draft_model: speculative decoding is not in this version of servecast; leave it out, or ask fit for "
        "its memory");
  CHECK(refusal_of({draft}).find("layers of a draft model beside groups of layers") != std::string::npos);
  CHECK(refusal_of({model, two, "/pools/0/draft_model=gpt-oss-20b"}).find("keeps less than every token") !=
        std::string::npos);
}

TEST_CASE("formats that a latent cache cannot have are refused with those that it can") {
  CHECK(
      refusal_of({"/model=deepseek-v3", "/pools/0/parallel/tensor=8", R"(/pools/0/precision={"kv_cache": "nvfp4"})"}) ==
      "/pools/0: nvfp4 is not supported for the latent cache of mla attention; use bf16 or fp8");
}

TEST_CASE("pools that SGLang has and a run does not are named") {
  CHECK(warns(result_of({"/pools/0/stack=sglang-0.5"}), "SGLang keeps layers with a window in a pool of their own"));
  CHECK(warns(result_of({hybrid, "/pools/0/stack=sglang-0.5"}), "an upper bound on hits"));
}
