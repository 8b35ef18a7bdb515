#include "scenario/stack.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "scenario/fit.hpp"
#include "scenario/kv_layout.hpp"
#include "scenario/remedy.hpp"

#include <algorithm>

namespace {

using namespace servecast;
using namespace servecast::scenario;

const std::vector<Stack>& stacks() {
  static const std::vector<Stack> all = built_in_stacks();
  return all;
}

const Stack& stack(std::string_view name) {
  const auto found = std::find_if(stacks().begin(), stacks().end(), [&](const Stack& s) { return s.name == name; });
  REQUIRE(found != stacks().end());
  return *found;
}

std::string nearest(Engine engine, std::string_view version) {
  return nearest_stack(stacks(), engine, version).stack->name;
}

hardware::Gpu gpu(double memory_gib, const char* architecture) {
  hardware::Gpu g;
  g.memory_gib = memory_gib;
  g.architecture = architecture;
  return g;
}

// A dense model of round numbers: 16 layers, 1 KiB of BF16 KV cache per layer and token, 2 GiB of MLP weights per
// layer.
model::Architecture round_model() {
  model::Architecture m;
  m.name = "round";
  m.layers = 16;
  m.dense_layers = 16;
  m.hidden = 8192;
  m.intermediate = 43691;
  m.vocab = 64;
  m.max_position = 8192;
  m.attention.heads = 8;
  m.attention.kv_heads = 4;
  m.attention.head_dim = 64;
  return m;
}

}  // namespace

TEST_CASE("every built-in stack reads without a problem and one stack stands for each engine") {
  REQUIRE(stacks().size() >= 8);
  for (const Engine e : {Engine::Vllm, Engine::Sglang, Engine::Trtllm})
    CHECK(std::count_if(stacks().begin(), stacks().end(),
                        [e](const Stack& s) { return s.engine == e && s.preferred; }) == 1);
}

TEST_CASE("an engine version maps to the stack of its generation") {
  CHECK(nearest(Engine::Vllm, "0.6.4") == "vllm-0.6");
  CHECK(nearest(Engine::Vllm, "0.4.1") == "vllm-0.6");
  CHECK(nearest(Engine::Vllm, "0.1") == "vllm-0.6");
  CHECK(nearest(Engine::Vllm, "0.7.x") == "vllm-0.7");
  CHECK(nearest(Engine::Vllm, "0.8-dev") == "vllm-0.8");
  CHECK(nearest(Engine::Vllm, "0.11 V1") == "vllm-0.11");
  CHECK(nearest(Engine::Vllm, "0.9/0.10") == "vllm-0.11");
  CHECK(nearest(Engine::Vllm, "0.15-era") == "vllm-0.15");
  CHECK(nearest(Engine::Vllm, "0.16.2") == "vllm-0.17");
  CHECK(nearest(Engine::Vllm, "0.18.0") == "vllm-0.19");
  CHECK(nearest(Engine::Vllm, "v0.19.0") == "vllm-0.19");
  CHECK(nearest(Engine::Vllm, "0.28") == "vllm-0.24");
  CHECK(nearest(Engine::Vllm, "1.0") == "vllm-0.24");
  CHECK(nearest(Engine::Vllm, "2026-03") == "vllm-0.19");
  CHECK(nearest(Engine::Sglang, "0.5.9") == "sglang-0.5");
  CHECK(nearest(Engine::Trtllm, "1.3.0rc20") == "trtllm-1");
}

TEST_CASE("a match says whether the version is the stack's own, near it or unknown") {
  CHECK(nearest_stack(stacks(), Engine::Vllm, "0.19.0").match == Match::Exact);
  CHECK(nearest_stack(stacks(), Engine::Vllm, "0.16").match == Match::Nearest);
  CHECK(nearest_stack(stacks(), Engine::Vllm, "").match == Match::Unversioned);
  CHECK(nearest_stack({}, Engine::Vllm, "0.19").stack == nullptr);
}

TEST_CASE("limits follow the memory of the GPU, and an A100 counts as a small one") {
  const auto limits = [](const char* name, double gib, const char* architecture) {
    const engine::Settings s = resolved_settings(stack(name), gpu(gib, architecture), 4096, {});
    return std::pair{*s.max_num_batched_tokens, *s.max_num_seqs};
  };
  CHECK(limits("vllm-0.19", 178, "blackwell") == std::pair{8192, 1024});
  CHECK(limits("vllm-0.19", 79, "ampere") == std::pair{2048, 256});
  CHECK(limits("vllm-0.19", 24, "ada") == std::pair{2048, 256});
  CHECK(limits("vllm-0.8", 79, "hopper") == std::pair{8192, 256});
  CHECK(limits("sglang-0.5", 178, "blackwell").first == 16384);
  CHECK(limits("sglang-0.5", 79, "hopper").first == 8192);
}

TEST_CASE("without chunked prefill the default budget holds a whole prompt, a given one stays") {
  const Stack& v0 = stack("vllm-0.6");
  CHECK(*resolved_settings(v0, gpu(24, "ampere"), 20000, {}).max_num_batched_tokens == 20000);
  CHECK(*resolved_settings(v0, gpu(24, "ampere"), 1024, {}).max_num_batched_tokens == 2048);
  engine::Settings user;
  user.max_num_batched_tokens = 512;
  CHECK(*resolved_settings(v0, gpu(24, "ampere"), 20000, user).max_num_batched_tokens == 512);
}

TEST_CASE("settings win in the order user, stack, GPU class") {
  engine::Settings user;
  user.gpu_memory_utilization = 0.5;
  user.max_model_len = 1000;
  const engine::Settings s = resolved_settings(stack("vllm-0.24"), gpu(178, "blackwell"), 4096, user);
  CHECK(*s.gpu_memory_utilization == 0.5);
  CHECK(*s.max_model_len == 1000);
  CHECK(*resolved_settings(stack("vllm-0.24"), gpu(178, "blackwell"), 4096, {}).gpu_memory_utilization == 0.92);
  CHECK(*resolved_settings(stack("vllm-0.11"), gpu(178, "blackwell"), 4096, {}).async_scheduling == false);
  CHECK_FALSE(resolved_settings(stack("sglang-0.5"), gpu(178, "blackwell"), 4096, {}).gpu_memory_utilization);
}

TEST_CASE("settings that contradict each other are all reported") {
  engine::Settings user;
  user.max_num_seqs = 4096;
  user.max_num_batched_tokens = 2048;
  user.max_model_len = 9000;
  user.enable_chunked_prefill = false;
  user.long_prefill_token_threshold = 10000;
  core::Problems problems;
  check_settings(resolved_settings(stack("vllm-0.19"), gpu(178, "blackwell"), 8192, user), 8192,
                 "s.json:/pools/0/engine", problems);
  CHECK(problems.lines().size() == 4);
}

TEST_CASE("each scheduler gets its own settings and refuses the others'") {
  const auto settings = [](const char* name, const engine::Settings& user) {
    return resolved_settings(stack(name), gpu(178, "blackwell"), 8192, user);
  };
  const auto problems = [&](const char* name, const engine::Settings& user) {
    core::Problems found;
    check_scheduler_settings(stack(name).scheduler, settings(name, user), "e", found);
    return found.lines().size();
  };
  for (const char* name : {"vllm-0.19", "sglang-0.5", "trtllm-1"}) CHECK(problems(name, {}) == 0);
  // A resolved document states every setting and must be accepted again.
  for (const char* name : {"vllm-0.19", "sglang-0.5", "trtllm-1"}) CHECK(problems(name, settings(name, {})) == 0);
  engine::Settings user;
  user.capacity_policy = engine::CapacityPolicy::MaxUtilization;
  user.schedule_policy = engine::SchedulePolicy::Lpm;
  CHECK(problems("vllm-0.19", user) == 2);
  CHECK(problems("sglang-0.5", user) == 1);
  CHECK(problems("trtllm-1", user) == 1);
  user = {};
  user.watermark = 0.01;
  user.long_prefill_token_threshold = 100;
  CHECK(problems("vllm-0.19", user) == 0);
  CHECK(problems("sglang-0.5", user) == 2);
  CHECK(problems("trtllm-1", user) == 2);
}

TEST_CASE("a stack's scheduler decides what the engine is built as") {
  const auto config = [](const char* name) {
    return engine_config(stack(name).scheduler, resolved_settings(stack(name), gpu(178, "blackwell"), 8192, {}), 1000);
  };
  CHECK(config("vllm-0.19").steps == engine::StepKind::Mixed);
  CHECK(config("vllm-0.19").capacity_policy == engine::CapacityPolicy::MaxUtilization);
  CHECK(config("trtllm-1").steps == engine::StepKind::Mixed);
  CHECK(config("trtllm-1").capacity_policy == engine::CapacityPolicy::GuaranteedNoEvict);
  CHECK(config("trtllm-1").block_size == 32);
  CHECK(config("sglang-0.5").steps == engine::StepKind::PrefillFirst);
  CHECK(config("sglang-0.5").block_size == 1);
}

TEST_CASE("layers with a window form groups that hold only the window") {
  model::Architecture m = round_model();
  m.layers = 30;
  m.attention.window = 32;
  m.attention.windowed_layers = 20;
  const KvLayout layout = kv_layout(m, precision::Format::BFloat16, 1, 16, {true, false});
  CHECK(layout.full_groups == 1);
  CHECK(layout.windowed_groups == 2);
  CHECK(layout.block_bytes == 16 * 10 * 1024);
  // 112 tokens: 7 blocks in full, and at most 31 + 1 tokens in 2 blocks plus one for the edge
  CHECK(blocks_of(layout, 112, 1) == 7 + 2 * 3);
  CHECK(blocks_of(layout, 16, 1) == 3);
  CHECK(blocks_held(layout, 112) == 7 + 2 + 2);  // tokens 81 to 111 are still in sight
  CHECK(blocks_held(layout, 113) == 8 + 2 * 3);
  CHECK(blocks_held(layout, 16) == 3);
  const KvLayout plain = kv_layout(m, precision::Format::BFloat16, 1, 16, {});
  CHECK(plain.groups() == 1);
  CHECK(blocks_of(plain, 112, 1) == 7);
}

TEST_CASE("an uneven count of windowed layers takes the smaller count as group size") {
  model::Architecture m = round_model();
  m.layers = 62;
  m.attention.window = 1024;
  m.attention.windowed_layers = 52;
  const KvLayout layout = kv_layout(m, precision::Format::BFloat16, 1, 16, {true, false});
  CHECK(layout.full_groups == 1);
  CHECK(layout.windowed_groups == 6);
}

TEST_CASE("tensor parallelism divides weights and cache, so the block count more than scales") {
  FitInput in;
  in.architecture = round_model();
  in.architecture.intermediate = 32768;
  in.stack = stack("vllm-0.19");
  in.gpu = gpu(79.18, "hopper");
  in.gpu.scale_up_gb_s = 450;
  const FitReport one = fit(in);
  in.tensor = 2;
  const FitReport two = fit(in);
  CHECK(one.kv.bytes_per_token == 16 * 1024);
  CHECK(two.kv.bytes_per_token == 8 * 1024);
  CHECK(two.capacity.blocks > 2 * one.capacity.blocks);
  CHECK(two.kv_tokens == two.capacity.blocks * 16);
}

TEST_CASE("a model that just misses its budget is helped by a little more utilisation first") {
  FitInput in;
  in.architecture = round_model();  // 32 GiB of MLP
  in.architecture.intermediate = 43008;
  in.stack = stack("vllm-0.19");
  in.gpu = gpu(39, "ampere");
  in.settings.gpu_memory_utilization = 0.8;
  REQUIRE_FALSE(fit(in).fits);
  const auto remedy = smallest_change(in);
  REQUIRE(remedy);
  REQUIRE(remedy->edits.size() == 1);
  CHECK(remedy->edits[0].key == "/pools/0/engine/gpu_memory_utilization");
  CHECK(remedy->report.fits);
}

TEST_CASE(
    "a model far beyond one GPU is spread over the node, and one beyond the node gets lighter weights or nothing") {
  FitInput in;
  in.architecture = round_model();
  in.architecture.intermediate = 43008;
  in.stack = stack("vllm-0.19");
  in.gpu = gpu(24, "ada");
  const auto spread = smallest_change(in);
  REQUIRE(spread);
  CHECK(spread->edits.back().key == "/pools/0/parallel/tensor");
  in.domain = 1;
  const auto lighter = smallest_change(in);
  REQUIRE(lighter);
  CHECK(lighter->text() == "--set /pools/0/precision/weights=fp8 (now as given)");
  in.gpu = gpu(4, "ada");
  CHECK_FALSE(smallest_change(in));
}
