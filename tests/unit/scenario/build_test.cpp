#include "scenario/build.hpp"

#include "catch.hpp"
#include "scenario/run.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace servecast;

namespace {

// A scenario file that lives as long as the test, on the fixed-cost model so that times are round.
class File {
 public:
  explicit File(std::string_view text)
      : path_((std::filesystem::temp_directory_path() / ("servecast-build-test-" + std::to_string(getpid()) + ".json"))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Two replicas; a step takes 1 ms and 10 us a prompt token.
constexpr std::string_view fixed_cost = R"({
  "version": 1, "name": "fixed", "seed": 3,
  "model": "llama-3.1-8b",
  "cluster": { "node": "hgx-h100", "nodes": 1 },
  "pools": [ { "name": "a", "replicas": 2, "stack": "vllm-0.19",
               "precision": { "weights": "fp8", "lm_head": "fp8" },
               "engine": { "max_model_len": 4096, "max_num_batched_tokens": 2048, "max_num_seqs": 8,
                           "async_scheduling": false } } ],
  "workload": { "arrivals": { "process": "constant", "rate_per_s": 4 },
                "input_tokens": { "distribution": "fixed", "value": 100 },
                "output_tokens": { "distribution": "fixed", "value": 11 }, "requests": 40 },
  "cost": { "fixed": { "step_us": 1000, "prefill_token_us": 10 } }
})";

std::vector<std::string> problems_of(const scenario::Request& request) {
  try {
    scenario::resolve(request);
  } catch (const core::InputError& error) {
    return error.lines();
  }
  return {};
}

}  // namespace

TEST_CASE("resolving fills in the stack, the formats and the engine's defaults") {
  const File file(fixed_cost);
  const scenario::Resolved r = scenario::resolve({file.path(), {}, {}});
  CHECK(r.model.name == "llama-3.1-8b");
  CHECK(r.gpu.name == "h100");
  CHECK(r.gpus_used() == 2);
  CHECK(r.pools[0].formats.attention == precision::Format::Fp8);
  CHECK(r.pools[0].formats.lm_head == precision::Format::Fp8);
  CHECK(r.pools[0].formats.embedding == precision::Format::BFloat16);
  CHECK(r.pools[0].activations == precision::Format::Fp8);
  CHECK(r.scenario.pools[0].engine.block_size == 16);
  CHECK(r.scenario.price.gpu_hour_usd.value_or(0) == r.gpu.gpu_hour_usd);
}

TEST_CASE("the resolved document resolves to itself") {
  const File file(fixed_cost);
  const std::string first = scenario::resolved_json(scenario::resolve({file.path(), {"/pools/0/replicas=3"}, 9}));
  const File again(first);
  CHECK(scenario::resolved_json(scenario::resolve({again.path(), {}, {}})) == first);
  CHECK(first.find("\"seed\": 9") != std::string::npos);
  CHECK(first.find("\"replicas\": 3") != std::string::npos);
}

TEST_CASE("problems of all sections come together") {
  const File file(fixed_cost);
  const auto lines =
      problems_of({file.path(), {"/model=lama-3.1-8b", "/pools/0/stack=vllm", "/router=1", "/seed=-1"}, {}});
  CHECK(lines.size() == 4);
}

TEST_CASE("replicas need their GPUs, and the message shows the arithmetic") {
  const File file(fixed_cost);
  const auto lines = problems_of({file.path(), {"/pools/0/replicas=5", "/pools/0/parallel/tensor=2"}, {}});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("needs 10 GPUs for 5 replicas of 2 GPUs; 1 node of 8 GPUs make 8, room for 4 replicas") !=
        std::string::npos);
}

TEST_CASE("a run on fixed step times gives the latencies that arithmetic gives") {
  const File file(fixed_cost);
  const scenario::RunOutcome out = scenario::run(scenario::resolve({file.path(), {}, {}}), {});
  // Alone in its replica, a request of 100 + 11 tokens prefills in 1 + 100 * 0.01 = 2 ms and decodes 10 steps of 1 ms.
  CHECK(out.result.requests.completed == 40);
  CHECK(out.result.requests.unfinished() == 0);
  CHECK(out.result.latency->ttft_ms.max == Approx(2.0));
  CHECK(out.result.latency->tpot_ms.mean == Approx(1.0));
  CHECK(out.result.latency->e2e_ms.p50 == Approx(12.0));
  CHECK(out.result.verdict.state == metrics::State::Stable);
}

TEST_CASE("a model too large for its GPUs is an outcome with the smallest change that fits") {
  const File file(fixed_cost);
  const scenario::RunOutcome out = scenario::run(scenario::resolve({file.path(), {"/model=llama-3.1-405b"}, {}}), {});
  CHECK(out.log == nullptr);
  CHECK(out.result.verdict.state == metrics::State::Infeasible);
  CHECK(out.result.verdict.reason.find("smallest change that fits: ") != std::string::npos);
}

TEST_CASE("a raised stop flag ends the run with a partial result") {
  const File file(fixed_cost);
  const std::atomic<bool> stop{true};
  scenario::RunOptions options;
  options.stop = &stop;
  const scenario::RunOutcome out = scenario::run(scenario::resolve({file.path(), {}, {}}), options);
  CHECK(out.interrupted);
  CHECK(out.result.partial);
  CHECK(out.result.requests.completed < 40);
}

TEST_CASE("a simulated-time limit counts what is unfinished") {
  const File file(fixed_cost);
  const scenario::RunOutcome out =
      scenario::run(scenario::resolve({file.path(), {"/limits/max_simulated_s=1.001"}, {}}), {});
  // Arrivals 0.25 s apart, 12 ms each: at 1.001 s only the one of 1 s is on its way.
  CHECK(out.result.requests.arrived - out.result.requests.completed == out.result.requests.unfinished());
  CHECK(out.result.requests.unfinished() == 1);
  CHECK_FALSE(out.interrupted);
}

TEST_CASE("every router serves every request") {
  const File file(fixed_cost);
  for (const std::string policy : {"round-robin", "random", "least-loaded", "power-of-two"}) {
    const scenario::RunOutcome out =
        scenario::run(scenario::resolve({file.path(), {"/router/policy=" + policy}, {}}), {});
    INFO(policy);
    CHECK(out.result.requests.completed == 40);
  }
}

TEST_CASE("built-in scenarios with lengths of their own resolve") {
  for (const std::string name : {"quickstart", "closed-loop-chat", "offline-batch", "llama-405b", "long-context",
                                 "benchmark", "benchmark-sharing", "beam-search", "azure-conversation",
                                 "mooncake-conversation"}) {
    INFO(name);
    CHECK(problems_of({name, {}, {}}).empty());
    CHECK(scenario::fit_all(scenario::resolve({name, {}, {}})).problem.empty());
  }
}

TEST_CASE("a run ends before the clock can overflow, whatever arrives last") {
  const File file(fixed_cost);
  const std::vector<std::string> sets = {"/workload/requests=100", "/workload/arrivals/rate_per_s=2.2e-5"};
  const scenario::RunOutcome out = scenario::run(scenario::resolve({file.path(), sets, {}}), {});
  CHECK(out.result.requests.completed == 87);  // constant gaps of 45,455 s within 4e6 s
  CHECK(out.end <= core::end_of_time());
  CHECK(problems_of({file.path(), {"/workload/duration_s=9.1e6", "/limits/max_simulated_s=9.1e6"}, {}}).size() == 2);
}

TEST_CASE("steps that outlast the longest run end with it") {
  const File file(fixed_cost);
  const std::vector<std::string> sets = {"/cost/fixed/step_us=1e9", "/workload/output_tokens/value=3900",
                                         "/workload/requests=8"};
  const scenario::RunOutcome out = scenario::run(scenario::resolve({file.path(), sets, {}}), {});
  // 3,900 steps of 1000 s are 3.9e6 s; a second batch of requests would end after the longest run.
  CHECK(out.result.requests.arrived == 8);
  CHECK(out.result.requests.completed + out.result.requests.unfinished() == 8);
  CHECK(core::to_seconds(out.end) < core::longest_run_s + 1100);
}

TEST_CASE("a run cut by its limit ends with the steps in progress") {
  const File file(fixed_cost);
  // The request of 1 s prefills until 1.002 s and decodes in steps of 1 ms; the one in progress at 1.0055 s ends at
  // 1.006 s.
  const scenario::RunOutcome out =
      scenario::run(scenario::resolve({file.path(), {"/limits/max_simulated_s=1.0055"}, {}}), {});
  CHECK(core::to_seconds(out.end) == Approx(1.006).epsilon(1e-12));
  CHECK(out.result.requests.unfinished() == 1);
}

TEST_CASE("a crowd that arrives at once is served as one, however large") {
  const File file(fixed_cost);
  const std::vector<std::string> sets = {"/workload/arrivals={\"process\":\"all-at-once\"}", "/workload/requests=9000",
                                         "/workload/output_tokens/value=1"};
  const scenario::RunOutcome out = scenario::run(scenario::resolve({file.path(), sets, {}}), {});
  // Each replica prefills 4,500 prompts of 100 tokens, eight a step of 1 + 8 ms.
  CHECK(out.result.requests.completed == 9000);
  CHECK(core::to_seconds(out.end) == Approx(562 * 0.009 + 0.005));
}

TEST_CASE("lengths that can never fit are refused where they stand") {
  const std::string sessions =
      R"({"sessions":{"arrivals":{"process":"poisson","rate_per_s":1},"count":5,"system_prompt_tokens":17000,)"
      R"("first_input_tokens":{"distribution":"fixed","value":10},)"
      R"("followup_input_tokens":{"distribution":"fixed","value":10}},)"
      R"("output_tokens":{"distribution":"fixed","value":10}})";
  const auto lines = problems_of({"quickstart", {"/workload=" + sessions}, {}});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("/workload/sessions/system_prompt_tokens: no session could begin") != std::string::npos);
  const File file(fixed_cost);
  const auto rejected =
      problems_of({file.path(), {"/workload/input_tokens/value=5000", "/workload/overlong=\"reject\""}, {}});
  REQUIRE(rejected.size() == 1);
  CHECK(rejected[0].find("/workload/overlong: reject would leave out every request") != std::string::npos);
}

TEST_CASE("a tensor size gets one message, with the sizes that are possible") {
  for (const auto& [size, part] : {std::pair{"128", "more than the 8 GPUs that hgx-b200 joins"},
                                   {"3", "does not divide the 64 attention heads"}}) {
    const auto lines = problems_of({"quickstart", {std::string("/pools/0/parallel/tensor=") + size}, {}});
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(part) != std::string::npos);
    CHECK(lines[0].ends_with("use 1, 2, 4 or 8"));
  }
}
