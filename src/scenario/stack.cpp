#include "scenario/stack.hpp"

#include "config/closest.hpp"
#include "config/fields.hpp"
#include "config/json_reader.hpp"
#include "hardware/provenance.hpp"
#include "scenario/kernel_profiles.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <tuple>

namespace servecast::scenario {
namespace {

// For stack files that state none; SGLang derives its share from the GPU instead.
constexpr double default_utilization = 0.9;
// Of vLLM v0, per GPU. Specified: vllm/config of 0.6 and 0.7.
constexpr double default_swap_space_gib = 4;

// A release number; a year in its place (calendar dates such as 2025-07) is not one.
struct Release {
  int major = 0;
  int minor = 0;
  auto operator<=>(const Release&) const = default;
};
constexpr int first_year = 1990;

std::optional<Release> release_of(std::string_view text) {
  const std::size_t start = text.find_first_of("0123456789");
  if (start == std::string_view::npos) return std::nullopt;
  Release r;
  const char* const end = text.data() + text.size();
  auto parsed = std::from_chars(text.data() + start, end, r.major);
  if (parsed.ec != std::errc{} || r.major >= first_year) return std::nullopt;
  if (parsed.ptr + 1 < end && *parsed.ptr == '.') {
    parsed = std::from_chars(parsed.ptr + 1, end, r.minor);
    if (parsed.ec != std::errc{}) r.minor = 0;  // "1.x"
  }
  return r;
}

void numbers(config::Fields& f, Stack& s) {
  f.field("settings", s.settings, "engine defaults that do not depend on the GPU");
  f.required("memory", s.memory, "how the engine divides GPU memory");
  f.required("host", s.host, "what the CPU adds to a step");
}

void check(config::Fields& f, Stack& s) {
  if (!release_of(s.version))
    f.problem("version", fmt::format("\"{}\" is no release number; write e.g. \"0.19\"", s.version));
  if (!release_of(s.since))
    f.problem("since", fmt::format("\"{}\" is no release number; write e.g. \"0.15\"", s.since));
  if (s.gpu_classes.empty()) f.problem("gpu_classes", "no class; give one with min_memory_gib 0");
  hardware::check_origin(hardware::number_keys([&s](config::Fields& inner) { numbers(inner, s); }), s.origin,
                         [&f](std::string_view key, const std::string& message) { f.problem(key, message); });
}

}  // namespace

void describe(config::Fields& f, GpuClass& c) {
  using config::closed;
  constexpr double most = 1 << 30;
  f.field("min_memory_gib", c.min_memory_gib, closed(0, 100000), "least visible memory of a GPU of this class");
  f.field("except_architecture", c.except_architecture, "GPU architecture the class leaves out");
  f.required("max_num_batched_tokens", c.max_num_batched_tokens, closed(1, most), "token budget of a step");
  f.required("max_num_seqs", c.max_num_seqs, closed(1, most), "most requests running at once");
  f.field("graph_max_batch", c.graph_max_batch, closed(0, most), "largest captured decode batch");
  f.required("kind", c.kind, "how sure the numbers are");
  f.required("source", c.source, "document, measurement or reasoning");
}

namespace {

// A misspelt folder would leave operators at their data-sheet times, with no more than a warning.
void check_profiles(config::Fields& f, const std::vector<std::string>& stacks) {
  std::vector<std::string> known;
  for (const KernelProfileName& p : kernel_profiles())
    if (known.empty() || known.back() != p.stack) known.push_back(p.stack);
  for (const std::string& s : stacks)
    if (!is_path(s) && std::find(known.begin(), known.end(), s) == known.end())
      f.problem("stacks", fmt::format("no kernel profiles are named \"{}\"{}; there are {}", s, config::hint(s, known),
                                      fmt::join(known, ", ")));
}

}  // namespace

void describe(config::Fields& f, KernelChoice& k) {
  f.required("stacks", k.stacks,
             "folders of kernel profiles, built in or by path; of several the fastest at each size");
  f.field("types", k.types, "formats it is for: of weights with their activations, of the cache for attention");
  f.field("architectures", k.architectures, "architectures of GPUs it is for");
  f.field("kernel", k.kernel, "routed experts: part of the kernel's name; absent: the one measured most");
  if (f.reading()) check_profiles(f, k.stacks);
}

void describe(config::Fields& f, KernelSources& k) {
  f.field("gemm", k.gemm, "profiles of matrix multiplications, best first");
  f.field("decode", k.decode, "profiles of decode attention");
  f.field("prefill", k.prefill, "profiles of prefill attention");
  f.field("moe", k.moe, "profiles of routed experts");
  f.field("all_reduce", k.all_reduce, "profiles of the all-reduce");
}

void describe(config::Fields& f, Stack& s) {
  f.required("name", s.name, "name users write");
  f.required("engine", s.engine, "serving engine");
  f.required("version", s.version, "release that the numbers describe");
  f.required("since", s.since, "first release of the same generation");
  f.field("preferred", s.preferred, "stands for its engine where no version is known");
  f.required("scheduler", s.scheduler, "scheduler semantics");
  f.field("hybrid_groups", s.hybrid_groups, "layers with a window keep only their window of the KV cache");
  f.field("decode_context", s.decode_context, "it knows decode context parallelism");
  f.required("gpu_classes", s.gpu_classes, "defaults by GPU memory; of the classes that match, the last one wins");
  numbers(f, s);
  f.field("kernel_tables", s.kernel_tables, "measured kernel profiles by operator; absent: rooflines only");
  f.required("origin", s.origin, "source and kind of every number");
  f.field("note", s.note, "what the numbers leave out");
  if (f.reading()) check(f, s);
}

const GpuClass* class_of(const Stack& stack, const hardware::Gpu& gpu) {
  const GpuClass* found = nullptr;
  for (const GpuClass& c : stack.gpu_classes) {
    const bool left_out = !c.except_architecture.empty() && c.except_architecture == gpu.architecture;
    if (gpu.memory_gib >= c.min_memory_gib && !left_out) found = &c;
  }
  return found;
}

namespace {

// What each engine does unless told otherwise. Specified: vLLM's offloading connector stores full blocks and loads
// beside steps (load_kv_async); TensorRT-LLM offloads what it evicts and onboards when a request starts; sglang's
// server_args.py.
void resolve_offload(Scheduler scheduler, engine::Settings& s) {
  using engine::OffloadPrefetch;
  const bool trtllm = scheduler == Scheduler::Trtllm, sglang = scheduler == Scheduler::Sglang;
  if (!s.kv_offload_write) s.kv_offload_write = trtllm ? engine::OffloadWrite::Back : engine::OffloadWrite::Through;
  if (!s.kv_offload_prefetch)
    s.kv_offload_prefetch = sglang ? OffloadPrefetch::Timeout : trtllm ? OffloadPrefetch::Wait : OffloadPrefetch::Ahead;
}

}  // namespace

engine::Settings resolved_settings(const Stack& stack, const hardware::Gpu& gpu, std::int32_t model_max_len,
                                   const engine::Settings& user, bool caches_prefixes) {
  const GpuClass* gpu_class = class_of(stack, gpu);
  const engine::Config base;
  engine::Settings defaults;
  defaults.block_size = base.block_size;
  defaults.max_num_seqs = gpu_class ? gpu_class->max_num_seqs : base.max_num_seqs;
  defaults.max_num_batched_tokens = gpu_class ? gpu_class->max_num_batched_tokens : base.max_num_batched_tokens;
  defaults.max_model_len = model_max_len;
  if (stack.engine != Engine::Sglang) defaults.gpu_memory_utilization = default_utilization;
  defaults.enable_prefix_caching = base.enable_prefix_caching;
  defaults.enable_chunked_prefill = base.enable_chunked_prefill;
  defaults.scheduler_reserve_full_isl = base.reserve_full_isl;
  defaults.async_scheduling = base.async_scheduling;
  defaults.cuda_graphs = true;
  defaults.long_prefill_token_threshold = base.long_prefill_token_threshold;
  defaults.watermark = base.watermark;
  defaults.kv_allocation = base.kv_allocation;
  defaults.stop = base.stop;
  defaults.loop = base.loop;
  if (stack.scheduler == Scheduler::Trtllm) defaults.capacity_policy = engine::CapacityPolicy::GuaranteedNoEvict;
  if (stack.scheduler == Scheduler::Sglang) {
    defaults.schedule_policy = base.schedule_policy;
    defaults.schedule_conservativeness = base.schedule_conservativeness;
    defaults.max_prefill_tokens = base.max_prefill_tokens;
    defaults.enable_mixed_chunk = base.enable_mixed_chunk;
  }
  if (stack.scheduler == Scheduler::VllmV0) {
    defaults.preemption_mode = base.preemption;
    defaults.swap_space_gib = default_swap_space_gib;
  }
  defaults = merged(defaults, stack.settings);
  if (!caches_prefixes) defaults.enable_prefix_caching = false;
  engine::Settings out = merged(defaults, user);
  if (out.kv_offload_gib) resolve_offload(stack.scheduler, out);
  // An engine raises its own default budget to one whole prompt when prompts are not split, and lowers its own default
  // of concurrent requests to the budget; it never changes a value the user gave.
  if (!user.max_num_batched_tokens && !*out.enable_chunked_prefill)
    out.max_num_batched_tokens = std::max(*out.max_num_batched_tokens, *out.max_model_len);
  if (!user.max_num_seqs) out.max_num_seqs = std::min(*out.max_num_seqs, *out.max_num_batched_tokens);
  return out;
}

engine::Config engine_config(Scheduler scheduler, const engine::Settings& s, std::int64_t usable_blocks) {
  engine::Config c;
  if (scheduler == Scheduler::Sglang) c.steps = engine::StepKind::PrefillFirst;
  if (scheduler == Scheduler::VllmV0) c.steps = engine::StepKind::Groups;
  c.block_size = *s.block_size;
  c.blocks = usable_blocks;
  c.max_num_seqs = *s.max_num_seqs;
  c.max_num_batched_tokens = *s.max_num_batched_tokens;
  c.max_model_len = *s.max_model_len;
  c.enable_prefix_caching = *s.enable_prefix_caching;
  c.enable_chunked_prefill = *s.enable_chunked_prefill;
  c.reserve_full_isl = *s.scheduler_reserve_full_isl;
  c.async_scheduling = *s.async_scheduling;
  c.long_prefill_token_threshold = *s.long_prefill_token_threshold;
  c.watermark = *s.watermark;
  c.kv_allocation = *s.kv_allocation;
  c.stop = *s.stop;
  c.loop = *s.loop;
  if (s.capacity_policy) c.capacity_policy = *s.capacity_policy;
  if (s.schedule_policy) c.schedule_policy = *s.schedule_policy;
  if (s.schedule_conservativeness) c.schedule_conservativeness = *s.schedule_conservativeness;
  if (s.max_prefill_tokens) c.max_prefill_tokens = *s.max_prefill_tokens;
  if (s.enable_mixed_chunk) c.enable_mixed_chunk = *s.enable_mixed_chunk;
  if (s.preemption_mode) c.preemption = *s.preemption_mode;
  return c;
}

std::vector<Stack> built_in_stacks() {
  std::vector<Stack> out;
  for (const std::string& name : names(Kind::Stack))
    out.push_back(config::read<Stack>(config::Document::from_text(*find(Kind::Stack, name), name)));
  return out;
}

StackMatch nearest_stack(std::span<const Stack> stacks, Engine engine, std::string_view version) {
  std::vector<std::pair<Release, const Stack*>> candidates;
  StackMatch out;
  for (const Stack& s : stacks) {
    if (s.engine != engine) continue;
    candidates.emplace_back(release_of(s.since).value_or(Release{}), &s);
    if (s.preferred || out.stack == nullptr) out.stack = &s;
  }
  const std::optional<Release> wanted = release_of(version);
  if (candidates.empty() || !wanted) return out;
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second->name) < std::tie(b.first, b.second->name);
  });
  out.stack = candidates.front().second;
  for (const auto& [since, stack] : candidates)
    if (since <= *wanted) out.stack = stack;
  out.match = release_of(out.stack->version) == wanted ? Match::Exact : Match::Nearest;
  return out;
}

}  // namespace servecast::scenario
