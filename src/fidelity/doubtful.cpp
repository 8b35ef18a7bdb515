#include "fidelity/doubtful.hpp"

#include <limits>

namespace servecast::fidelity {

namespace {

constexpr std::int64_t any = 0;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Empty texts and zeros match all. engine: "=x" the whole text, else its beginning. metric empty: both.
struct Doubt {
  std::string_view model, gpu, engine;
  std::int32_t min_tensor = 0, max_tensor = 0;
  std::int64_t isl = any, osl = any;
  std::int64_t min_concurrency = 0, max_concurrency = most;
  std::string_view metric, why;
};

constexpr std::string_view slow = "slower than its neighbours at higher concurrency";
constexpr std::string_view old_build = "13-20 % slower than later builds of the same engine";
constexpr std::string_view lone = "far from its neighbours";

constexpr Doubt doubts[] = {
    {"gpt-oss-120b", "h100", "=vllm", 0, 0, any, any, 512, 512, "",
     "TTFT of minutes with a small TPOT: broken stream timing"},
    {"gpt-oss-120b", "h100", "=vllm 0.11.2", 0, 0, any, any, 512, 512, "",
     "TTFT of minutes with a small TPOT: broken stream timing"},
    {"gpt-oss-120b", "h100", "vllm 0.18", 4, 4, 1024, 1024, 32, 32, "", slow},
    {"gpt-oss-120b", "h100", "vllm 0.18", 4, 4, 1024, 8192, 16, 16, "", slow},
    {"gpt-oss-120b", "h100", "vllm 0.18", 8, 8, 1024, 1024, 64, 64, "", slow},
    {"gpt-oss-120b", "h100", "vllm 0.18", 8, 8, 1024, 8192, 8, 8, "", slow},
    {"gpt-oss-120b", "b200", "vllm 0.15", 2, 2, 1024, 8192, 16, 32, "", slow},
    {"gpt-oss-120b", "b200", "vllm 0.15", 4, 4, 1024, 8192, 32, 64, "", slow},
    {"gpt-oss-120b", "b200", "=trtllm", 8, 8, 1024, 1024, 32, 64, "", old_build},
    {"gpt-oss-120b", "b200", "=trtllm", 4, 4, any, any, 128, 128, "", old_build},
    {"gpt-oss-120b", "b200", "=trtllm", 1, 1, any, any, 32, 32, "", old_build},
    {"kimi-k2.5", "h200", "vllm 0.16", 0, 0, 1024, 8192, 16, 16, "", lone},
    {"minimax-m2.5", "b200", "vllm 0.17", 4, 4, 1024, 8192, 8, 8, "ttft_ms", lone},
    {"minimax-m2.5", "b200", "vllm 0.17", 4, 4, 1024, 1024, 4, 4, "ttft_ms", lone},
    {"minimax-m2.5", "h100", "vllm", 0, 0, 8192, 1024, 4, 4, "", lone},
    {"minimax-m2.5", "h200", "vllm 0.18", 0, 0, any, any, 16, 16, "ttft_ms", "84 and 131 ms on consecutive days"},
    {"qwen3-235b-a22b", "h200", "vllm 0.12", 0, 0, any, any, 0, most, "",
     "TPOT hardly depends on concurrency and is twice that of another engine"},
    {"llama-3.1-8b", "h200", "vllm 0.12", 0, 0, any, any, 0, most, "",
     "implied prefill rate is beyond one GPU: prompts hit the prefix cache"},
    {"qwen3-235b-a22b", "h200", "sglang", 0, 0, any, any, 0, most, "ttft_ms",
     "two to three times what prefill explains at 4k prompts"},
    {"qwen3-235b-a22b", "h100", "trtllm 1.0.0rc3", 0, 0, any, any, 0, most, "ttft_ms",
     "170-250 ms whatever the prompt"},
    {"llama-3.1-8b", "h100", "trtllm 1.0.0rc3", 2, 8, any, any, 64, most, "",
     "the front end saturates and requests queue outside the engine"},
    {"qwen3-32b", "b200", "trtllm 1.3", 2, 2, 15000, 500, 416, 416, "",
     "416 such requests need twice the memory of two GPUs, and none waits"},
    {"qwen3-32b", "", "sglang 0.5.8", 1, 1, any, any, 0, most, "",
     "KV cache of a few thousand tokens; its share of memory is not stated"},
};

struct LogDoubt {
  std::string_view id, why;
};
constexpr LogDoubt log_doubts[] = {
    {"K01", "counts 1.79 GiB outside PyTorch, which later releases removed"},
    {"K84", "9.98 GiB of weights a rank where the checkpoint has 8; the process later exceeded its budget"},
};

bool engine_matches(std::string_view pattern, std::string_view engine) {
  return pattern.starts_with('=') ? pattern.substr(1) == engine : engine.starts_with(pattern);
}

bool matches(const Doubt& d, const RowKey& r, std::string_view metric) {
  return (d.model.empty() || d.model == r.model) && (d.gpu.empty() || d.gpu == r.gpu) &&
         engine_matches(d.engine, r.engine) &&
         (d.max_tensor == 0 || (r.tensor >= d.min_tensor && r.tensor <= d.max_tensor)) &&
         (d.isl == any || d.isl == r.isl) && (d.osl == any || d.osl == r.osl) && r.concurrency >= d.min_concurrency &&
         r.concurrency <= d.max_concurrency && (d.metric.empty() || d.metric == metric);
}

}  // namespace

std::string_view doubt(const RowKey& row, std::string_view metric) {
  for (const Doubt& d : doubts)
    if (matches(d, row, metric)) return d.why;
  return {};
}

std::string_view start_log_doubt(std::string_view id) {
  for (const LogDoubt& d : log_doubts)
    if (d.id == id) return d.why;
  return {};
}

}  // namespace servecast::fidelity
