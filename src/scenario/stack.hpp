// A serving stack as data: one engine with a version, its defaults by GPU class, its memory recipe and its host times.
// Engine defaults drift from release to release, so they live in stack files with their sources, never in code. What a
// scheduler does lives in engine/; a stack whose scheduler is not built serves `fit` and is refused by name by `run`.
#pragma once

#include "core/error.hpp"
#include "cost/host.hpp"
#include "cost/kernels/family.hpp"
#include "engine/config.hpp"
#include "engine/settings.hpp"
#include "hardware/gpu.hpp"
#include "memory/capacity.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::scenario {

enum class Engine : std::uint8_t { Vllm, Sglang, Trtllm };
inline constexpr std::string_view engine_names[] = {"vllm", "sglang", "trtllm"};
constexpr std::span<const std::string_view> names_of(Engine) { return engine_names; }

enum class Scheduler : std::uint8_t { VllmV1, VllmV0, Sglang, Trtllm };
inline constexpr std::string_view scheduler_names[] = {"vllm-v1", "vllm-v0", "sglang", "trtllm"};
constexpr std::span<const std::string_view> names_of(Scheduler) { return scheduler_names; }

// Limits an engine picks by the memory of the GPU. Of the classes that match, the last one wins.
struct GpuClass {
  double min_memory_gib = 0;
  std::string except_architecture;  // class does not hold for GPUs of this architecture; empty: for all
  std::int32_t max_num_batched_tokens = 0;
  std::int32_t max_num_seqs = 0;
  std::int32_t graph_max_batch = 0;  // largest captured decode batch
  hardware::Evidence kind = hardware::Evidence::Assumed;
  std::string source;
};

// Kernel profiles that time one operator, by the folder of a stack: the fastest of several at each size.
struct KernelChoice {
  std::vector<std::string> stacks;
  std::vector<cost::kernels::DataType> types;  // that it is for; empty: all
  std::vector<std::string> architectures;      // GPUs that it is for; empty: all
  std::string kernel;                          // of routed experts: part of the kernel's name
};

// Which kernel profiles time which operator, in order of preference: a stack may run kernels that another stack's
// tables describe better. An operator without choices, or that no choice knows, keeps its roofline.
struct KernelSources {
  std::vector<KernelChoice> gemm;
  std::vector<KernelChoice> decode;
  std::vector<KernelChoice> prefill;
  std::vector<KernelChoice> moe;
  std::vector<KernelChoice> all_reduce;
};

struct Stack {
  std::string name;
  Engine engine = Engine::Vllm;
  std::string version;     // that the constants describe
  std::string since;       // first version of the same generation
  bool preferred = false;  // stands for its engine where no version is known
  Scheduler scheduler = Scheduler::VllmV1;
  bool hybrid_groups = false;   // layers with a window keep only their window of the KV cache
  bool decode_context = false;  // the tokens of a sequence may be interleaved over tensor ranks
  engine::Settings settings;    // defaults that do not depend on the GPU
  std::vector<GpuClass> gpu_classes;
  memory::MemoryRecipe memory;
  cost::HostConstants host;
  std::optional<KernelSources> kernel_tables;  // absent: rooflines only
  std::vector<hardware::Origin> origin;
  std::string note;
};

void describe(config::Fields& f, GpuClass& c);
void describe(config::Fields& f, KernelChoice& k);
void describe(config::Fields& f, KernelSources& k);
void describe(config::Fields& f, Stack& s);

// Class of a GPU, or nullptr when none matches.
const GpuClass* class_of(const Stack& stack, const hardware::Gpu& gpu);

// Every setting resolved: the user's over the stack's over the GPU class; max_model_len falls back to the model's own.
// Only the two overrides of the KV cache stay empty when nobody gives them, and SGLang's share of memory: automatic.
// caches_prefixes: whether the engine does for this model, unless told.
engine::Settings resolved_settings(const Stack& stack, const hardware::Gpu& gpu, std::int32_t model_max_len,
                                   const engine::Settings& user, bool caches_prefixes = true);

// The engine's own rules across settings, and limits of the model. place: of the pool's engine section.
void check_settings(const engine::Settings& resolved, std::int32_t model_max_len, const std::string& place,
                    core::Problems& problems);

// Refuses settings that the scheduler does not have.
void check_scheduler_settings(Scheduler scheduler, const engine::Settings& resolved, const std::string& place,
                              core::Problems& problems);

// Requires: resolved settings.
engine::Config engine_config(Scheduler scheduler, const engine::Settings& resolved, std::int64_t usable_blocks);

// Every stack built into the binary, by name. Throws core::InputError when one is malformed.
std::vector<Stack> built_in_stacks();

// exact: the stack's own version; nearest: another version of its generation, or of the closest one; unversioned: the
// text holds no version number (a date, nothing), so the engine's preferred stack stands in.
enum class Match : std::uint8_t { Exact, Nearest, Unversioned };

struct StackMatch {
  const Stack* stack = nullptr;  // nullptr: no stack of this engine
  Match match = Match::Unversioned;
};

// The stack of the engine whose generation a version belongs to: the last one that starts at or before it, else the
// first. `version` is free text such as "0.11 V1", "0.6.6/0.7" or "0.8-dev"; its first number decides.
StackMatch nearest_stack(std::span<const Stack> stacks, Engine engine, std::string_view version);

}  // namespace servecast::scenario
