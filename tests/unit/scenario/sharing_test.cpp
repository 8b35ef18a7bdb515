// Shared content, several sequences a request and host memory, from the scenario to the result.
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

constexpr std::string_view fixed_cost = R"({
  "version": 1, "name": "sharing", "seed": 3,
  "model": "llama-3.1-8b",
  "cluster": { "node": "hgx-h100", "nodes": 1 },
  "pools": [ { "name": "a", "replicas": 1, "stack": "vllm-0.19",
               "engine": { "max_model_len": 4096, "max_num_batched_tokens": 4096, "max_num_seqs": 16 } } ],
  "workload": { "arrivals": { "process": "poisson", "rate_per_s": 4 },
                "input_tokens": { "distribution": "uniform", "min": 50, "max": 600 },
                "output_tokens": { "distribution": "uniform", "min": 1, "max": 100 }, "requests": 200 },
  "cost": { "fixed": { "step_us": 10000, "prefill_token_us": 10 } }
})";

metrics::Result result_of(const std::vector<std::string>& sets) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("servecast-sharing-test-" + std::to_string(getpid()) + ".json");
  std::ofstream(path, std::ios::binary) << fixed_cost;
  return scenario::run(scenario::resolve({path.string(), sets, {}}), {}).result;
}

std::string refusal_of(const std::vector<std::string>& sets) {
  try {
    result_of(sets);
  } catch (const core::InputError& error) {
    return error.lines().front();
  }
  return "";
}

const std::string prefixes = R"(/workload/shared_prefix={"families": 6, "tokens": 256, "share": 0.7})";
const std::string v0 = "/pools/0/stack=vllm-0.6";

std::vector<std::string> with(std::vector<std::string> sets, const std::string& more) {
  sets.push_back(more);
  return sets;
}

}  // namespace

TEST_CASE("prefixes that requests share save memory, by as much in either loop") {
  const metrics::Result fast = result_of({prefixes});
  const metrics::Result plain = result_of({prefixes, "/pools/0/engine/loop=plain"});
  REQUIRE(fast.memory[0].saved_by_sharing.has_value());
  CHECK(*fast.memory[0].saved_by_sharing > 0.02);
  CHECK(*fast.memory[0].saved_by_sharing == *plain.memory[0].saved_by_sharing);
  CHECK(fast.memory[0].prefix_hit_rate == plain.memory[0].prefix_hit_rate);
  CHECK(fast.latency->ttft_ms.p99 == plain.latency->ttft_ms.p99);
  CHECK_FALSE(result_of({}).memory[0].saved_by_sharing.has_value());
}

TEST_CASE("several samples a request run on every stack, each saying that output counts one of them") {
  for (const std::string stack : {"vllm-0.6", "vllm-0.19", "trtllm-1", "sglang-0.5"}) {
    const metrics::Result result = result_of({"/pools/0/stack=" + stack, "/workload/samples=3"});
    INFO(stack);
    CHECK(result.requests.completed == 200);
    CHECK(result.requests.first_tokens == 200);
    const metrics::PoolMemory& memory = result.memory[0];
    CHECK((memory.copied_blocks > 0) == (stack == "vllm-0.6"));
    CHECK(memory.saved_by_sharing.value_or(0) > 0.2);
    if (stack != "vllm-0.6")
      CHECK(*memory.prefix_hit_rate > 0.6);  // two lookups of three find the prompt's full blocks
    CHECK(std::any_of(result.warnings.begin(), result.warnings.end(), [](const std::string& warning) {
      return warning.find("one of the 3 sequences") != std::string::npos;
    }));
  }
  CHECK_THAT(refusal_of({"/workload/samples=3", R"(/workload/beam={"width": 3})"}), Catch::Contains("samples"));
}

TEST_CASE("samples save memory only where prompts are shared, and the first token waits for nothing but the prompt") {
  const std::string samples = "/workload/samples=4";
  const metrics::Result shared = result_of({samples});
  const metrics::Result apart = result_of({samples, "/pools/0/engine/enable_prefix_caching=false"});
  CHECK(*shared.memory[0].saved_by_sharing > 0.4);
  CHECK_FALSE(apart.memory[0].saved_by_sharing.has_value());
  CHECK(apart.memory[0].mean_use > shared.memory[0].mean_use);
  CHECK(apart.latency->ttft_ms.mean > shared.latency->ttft_ms.mean);
  CHECK(shared.latency->ttft_ms.mean < result_of({samples, "/pools/0/stack=sglang-0.5"}).latency->ttft_ms.mean);
}

TEST_CASE("beam search runs on vLLM's first scheduler, and the others say why they refuse it") {
  const std::string beam = R"(/workload/beam={"width": 3})";
  const metrics::Result result = result_of({v0, beam});
  CHECK(result.requests.completed == 200);
  CHECK(result.memory[0].copied_blocks > 0);
  CHECK(result.memory[0].saved_by_sharing.value_or(0) > 0.2);
  const auto refusal = [&](const std::string& stack) { return refusal_of({"/pools/0/stack=" + stack, beam}); };
  CHECK_THAT(refusal("vllm-0.19"), Catch::Contains("/workload/beam: no beam search with vllm-0.19") &&
                                       Catch::Contains("its API emulates one above it") && Catch::Contains("vllm-0.6"));
  CHECK_THAT(refusal("sglang-0.5"), Catch::Contains("SGLang has none in its engine"));
  CHECK_THAT(refusal("trtllm-1"), Catch::Contains("is not in this version of servecast"));
}

TEST_CASE("groups are swapped when blocks run short, requests of one sequence are recomputed") {
  const std::vector<std::string> scarce = {v0, "/pools/0/engine/num_gpu_blocks_override=270",
                                           "/workload/arrivals/rate_per_s=40"};
  const metrics::PoolMemory alone = result_of(scarce).memory[0];
  CHECK(alone.preemptions > 0);
  CHECK(alone.swapped_out_blocks == 0);
  const metrics::PoolMemory groups =
      result_of(with(with(scarce, "/workload/samples=4"), "/pools/0/engine/max_num_seqs=64")).memory[0];
  CHECK(groups.swapped_out_blocks > 0);
  CHECK(groups.swapped_in_blocks == groups.swapped_out_blocks);
  const metrics::PoolMemory swapped = result_of(with(scarce, "/pools/0/engine/preemption_mode=swap")).memory[0];
  CHECK(swapped.swapped_out_blocks > 0);
}

TEST_CASE("host memory keeps the prefixes that the GPU evicts") {
  const std::vector<std::string> scarce = {prefixes, "/pools/0/engine/num_gpu_blocks_override=270"};
  const metrics::Result without = result_of(scarce);
  const metrics::Result through = result_of(with(scarce, "/pools/0/engine/kv_offload_gib=8"));
  const metrics::Result back =
      result_of(with(with(scarce, "/pools/0/engine/kv_offload_gib=8"), "/pools/0/engine/kv_offload_write=back"));
  CHECK(*through.memory[0].prefix_hit_rate > *without.memory[0].prefix_hit_rate);
  CHECK(*back.memory[0].prefix_hit_rate > *without.memory[0].prefix_hit_rate);
  CHECK(through.memory[0].tiers->loaded_blocks > 0);
  CHECK(back.memory[0].tiers->stored_blocks < through.memory[0].tiers->stored_blocks);
}

TEST_CASE("every engine that has tiers below the GPU hits more with them, and says where") {
  for (const std::string stack : {"vllm-0.24", "trtllm-1", "sglang-0.5"}) {
    const bool sglang = stack == "sglang-0.5";
    const auto engine = [](const std::string& setting) { return "/pools/0/engine/" + setting; };
    const std::string blocks = sglang ? "num_gpu_blocks_override=5000" : "num_gpu_blocks_override=300";
    const std::vector<std::string> scarce = {"/pools/0/stack=" + stack, prefixes, engine(blocks)};
    const metrics::PoolMemory without = result_of(scarce).memory[0];
    const metrics::Result with_host = result_of(with(scarce, engine("kv_offload_gib=2")));
    const metrics::PoolMemory& host = with_host.memory[0];
    INFO(stack);
    CHECK_FALSE(without.tiers.has_value());
    REQUIRE(host.tiers.has_value());
    CHECK(*host.prefix_hit_rate > *without.prefix_hit_rate);
    CHECK(host.tiers->host_hit_tokens > 0);
    CHECK(host.tiers->device_hit_tokens > 0);
    CHECK(host.tiers->nvme_written_blocks == 0);
    const metrics::PoolMemory nvme =
        result_of(with(with(scarce, engine("kv_offload_gib=0.7")), engine("kv_offload_nvme_gib=50"))).memory[0];
    CHECK(nvme.tiers->nvme_written_blocks > 0);
    CHECK(*nvme.prefix_hit_rate > *without.prefix_hit_rate);
  }
}

TEST_CASE("hits by tier are those of every lookup, a preempted request's included") {
  for (const std::string stack : {"vllm-0.24", "sglang-0.5"}) {
    const bool sglang = stack == "sglang-0.5";
    std::vector<std::string> busy = {
        "/pools/0/stack=" + stack,
        prefixes,
        "/workload/arrivals/rate_per_s=60",
        "/pools/0/engine/max_num_seqs=64",
        "/pools/0/engine/kv_offload_gib=4",
        std::string("/pools/0/engine/num_gpu_blocks_override=") + (sglang ? "4200" : "262")};
    if (sglang) busy.push_back("/pools/0/engine/schedule_conservativeness=0.1");
    const metrics::Result r = result_of(busy);
    INFO(stack);
    REQUIRE(r.memory[0].preemptions > 0);
    CHECK(r.memory[0].tiers->host_hit_tokens > 0);
    CHECK(r.memory[0].tiers->device_hit_tokens >= 0);
  }
}

TEST_CASE("sessions under memory pressure are the same in either loop") {
  const std::vector<std::string> chat = {
      R"(/workload={"sessions": {"arrivals": {"process": "poisson", "rate_per_s": 5}, "count": 40,
         "turns": {"distribution": "geometric", "mean": 5}, "think_time": {"distribution": "exponential", "mean_s": 0.1},
         "first_input_tokens": {"distribution": "uniform", "min": 1, "max": 512},
         "followup_input_tokens": {"distribution": "uniform", "min": 1, "max": 256}}, "overlong": "reject",
         "output_tokens": {"distribution": "uniform", "min": 1, "max": 256}})",
      "/pools/0/engine/num_gpu_blocks_override=260", "/pools/0/engine/max_num_seqs=64"};
  const metrics::Result fast = result_of(chat);
  const metrics::Result plain = result_of(with(chat, "/pools/0/engine/loop=plain"));
  CHECK(fast.memory[0].preemptions > 10);
  CHECK(fast.fingerprint == plain.fingerprint);
  CHECK(fast.memory[0].prefix_hit_rate == plain.memory[0].prefix_hit_rate);
}

TEST_CASE("memory that many sequences of a step share is no waste") {
  for (const std::string loop : {"automatic", "plain"}) {
    const metrics::Result r =
        result_of({"/workload/samples=16", R"(/workload/output_tokens={"distribution":"fixed","value":1})",
                   R"(/workload/input_tokens={"distribution":"fixed","value":1000})", "/pools/0/engine/loop=" + loop});
    INFO(loop);
    // 62 shared blocks and 16 with 8 of 16 tokens
    CHECK(r.memory[0].use.internal / (r.memory[0].use.internal + r.memory[0].use.token_states) ==
          Approx(128.0 / (16 * (62 + 16))).epsilon(0.05));
  }
}

TEST_CASE("a link that requests wait for is named with the settings that ease it") {
  const std::vector<std::string> narrow = {
      prefixes, "/pools/0/engine/num_gpu_blocks_override=270", "/pools/0/engine/kv_offload_gib=0.5",
      "/pools/0/engine/kv_offload_nvme_gib=8", "/pools/0/engine/kv_offload_nvme_write_gb_s=0.05"};
  const metrics::Result result = result_of(narrow);
  const auto named = std::find_if(result.warnings.begin(), result.warnings.end(), [](const std::string& warning) {
    return warning.find("moving cached prefixes is a bottleneck") != std::string::npos;
  });
  REQUIRE(named != result.warnings.end());
  CHECK_THAT(*named, Catch::Contains("writing NVMe") && Catch::Contains("kv_offload_nvme_write_gb_s"));
}

TEST_CASE("what a scheduler's memory lacks is refused by name") {
  const auto engine = [](const std::string& setting) { return "/pools/0/engine/" + setting; };
  CHECK_THAT(refusal_of({v0, engine("kv_offload_gib=1")}), Catch::Contains("vllm-v0"));
  const std::string host = engine("kv_offload_gib=8"), trtllm = "/pools/0/stack=trtllm-1",
                    sglang = "/pools/0/stack=sglang-0.5";
  CHECK_THAT(refusal_of({engine("kv_offload_nvme_gib=1")}), Catch::Contains("given without kv_offload_gib"));
  CHECK_THAT(refusal_of({engine("kv_offload_prefetch=ahead")}), Catch::Contains("given without kv_offload_gib"));
  CHECK_THAT(refusal_of({host, engine("kv_offload_nvme_read_gb_s=1")}), Catch::Contains("without kv_offload_nvme_gib"));
  CHECK_THAT(refusal_of({host, engine("kv_offload_prefetch=best_effort")}),
             Catch::Contains("vllm-v1 has no best_effort; use wait or ahead"));
  CHECK_THAT(refusal_of({trtllm, host, engine("kv_offload_prefetch=ahead")}),
             Catch::Contains("trtllm has no ahead; use wait"));
  CHECK_THAT(refusal_of({trtllm, host, engine("kv_offload_write=through_selective")}),
             Catch::Contains("trtllm has no through_selective"));
  CHECK_THAT(refusal_of({sglang, host, engine("kv_offload_prefetch=wait")}),
             Catch::Contains("use best_effort, wait_complete or timeout"));
  CHECK_THAT(refusal_of({sglang, host}), Catch::Contains("SGLang's host pool must be the larger one"));
  CHECK_THAT(refusal_of({host, engine("kv_offload_nvme_gib=1"), "/cluster/node=pcie-l40s"}),
             Catch::Contains("states no nvme_read_gb_s"));
  CHECK_THAT(refusal_of({engine("swap_space_gib=1")}), Catch::Contains("vllm-v0"));
  CHECK_THAT(refusal_of({v0, "/workload/samples=2", engine("preemption_mode=recompute")}),
             Catch::Contains("requests of one sequence"));
}

TEST_CASE("vLLM v0 caches prefixes and splits prompts where a scenario asks for it") {
  const std::vector<std::string> busy = {v0, prefixes, "/workload/arrivals/rate_per_s=20"};
  const metrics::Result without = result_of(busy);
  const metrics::Result cached = result_of(with(busy, "/pools/0/engine/enable_prefix_caching=true"));
  CHECK(*cached.memory[0].prefix_hit_rate > 0.2);
  CHECK(cached.latency->ttft_ms.mean < without.latency->ttft_ms.mean);
  CHECK(*cached.memory[0].saved_by_sharing > 0.02);
  const std::vector<std::string> chunks =
      with(with(busy, "/pools/0/engine/enable_chunked_prefill=true"), "/pools/0/engine/max_num_batched_tokens=256");
  const metrics::Result split = result_of(chunks);
  CHECK(split.requests.completed == 200);
  CHECK(split.latency->itl_ms.p99 < without.latency->itl_ms.p99);  // decodes no longer wait for whole prompts
  const metrics::Result both = result_of(with(chunks, "/pools/0/engine/enable_prefix_caching=true"));
  CHECK(*both.memory[0].prefix_hit_rate > 0.2);
  const std::vector<std::string> wide = with(chunks, "/pools/0/engine/block_size=512");
  CHECK_THAT(refusal_of(with(wide, "/pools/0/engine/enable_prefix_caching=true")),
             Catch::Contains("is below block_size 512"));
}

TEST_CASE("a group that the pool can never hold is refused before the run, by the place that asks for it") {
  const std::vector<std::string> small = {v0, "/pools/0/engine/num_gpu_blocks_override=260"};
  CHECK(refusal_of(with(small, "/workload/samples=4")).empty());
  // 600 + 100 tokens: 37 shared blocks, and before the last step 7 more for each of 64, which then take one each
  CHECK_THAT(refusal_of(with(with(small, "/workload/samples=64"), "/pools/0/engine/max_num_seqs=64")),
             Catch::Contains("/workload/samples: a request of 600 prompt and 100 output tokens in 64 sequences needs "
                             "549 blocks") &&
                 Catch::Contains("raise num_gpu_blocks_override"));
}

TEST_CASE("swap space that runs out names its place in the document") {
  const std::string refusal = refusal_of({v0, "/pools/0/engine/num_gpu_blocks_override=270", "/workload/samples=4",
                                          "/workload/arrivals/rate_per_s=40", "/pools/0/engine/max_num_seqs=64",
                                          "/pools/0/engine/swap_space_gib=0.01"});
  CHECK_THAT(refusal,
             Catch::Contains("/pools/0/engine/swap_space_gib: ") && Catch::Contains("where the engine aborts"));
}
