// Concrete settings of one replica, every default resolved. Names are the serving engines' own flags.
#pragma once

#include "core/time.hpp"
#include "engine/branching.hpp"
#include "engine/kv_kinds.hpp"
#include "engine/transfer.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace servecast::engine {

// How requests end: at their output limit, which an asynchronous scheduler foresees, or at an end-of-sequence token,
// which it sees one step late at the price of one wasted decode slot.
enum class Stop : std::uint8_t { Length, Eos };
inline constexpr std::string_view stop_names[] = {"length", "eos"};
constexpr std::span<const std::string_view> names_of(Stop) { return stop_names; }

// automatic: the constant-time engine where the configuration allows it, else the plain loop. Both give the same bits.
enum class Loop : std::uint8_t { Automatic, Plain };
inline constexpr std::string_view loop_names[] = {"automatic", "plain"};
constexpr std::span<const std::string_view> names_of(Loop) { return loop_names; }

// mixed: decodes and prefill chunks share steps, decodes first (vLLM v1, TensorRT-LLM). prefill_first: prompts run in
// steps of their own whenever one can start (SGLang). groups: the same with groups of sequences, swapped out or
// recomputed under pressure (vLLM v0).
enum class StepKind : std::uint8_t { Mixed, PrefillFirst, Groups };

// What a preempted group does with its blocks. automatic: several sequences are swapped to the host, one is recomputed.
enum class PreemptionMode : std::uint8_t { Automatic, Recompute, Swap };
inline constexpr std::string_view preemption_mode_names[] = {"automatic", "recompute", "swap"};
constexpr std::span<const std::string_view> names_of(PreemptionMode) { return preemption_mode_names; }

// What starting a request takes. max_utilization: blocks for what it has now; when they run short, the newest requests
// are preempted. guaranteed_no_evict: blocks for prompt and longest output of all that run; nothing is preempted.
enum class CapacityPolicy : std::uint8_t { MaxUtilization, GuaranteedNoEvict };
inline constexpr std::string_view capacity_policy_names[] = {"max_utilization", "guaranteed_no_evict"};
constexpr std::span<const std::string_view> names_of(CapacityPolicy) { return capacity_policy_names; }

// Order of the waiting queue. lpm: longest cached prefix first.
enum class SchedulePolicy : std::uint8_t { Fcfs, Lpm };
inline constexpr std::string_view schedule_policy_names[] = {"fcfs", "lpm"};
constexpr std::span<const std::string_view> names_of(SchedulePolicy) { return schedule_policy_names; }

// How KV memory is given to requests. paged: blocks as they are needed. The contiguous ones are the baselines that
// paging replaced: one region a request, by the buddy rule, for its prompt and as much output as the policy reserves:
// up to max_model_len in all, the next power of two of the true length, or exactly the true length.
enum class KvAllocation : std::uint8_t { Paged, ContiguousMax, ContiguousPow2, ContiguousOracle };
inline constexpr std::string_view kv_allocation_names[] = {"paged", "contiguous_max", "contiguous_pow2",
                                                           "contiguous_oracle"};
constexpr std::span<const std::string_view> names_of(KvAllocation) { return kv_allocation_names; }

// When a block of cached content is copied to the host. through: as soon as it is full; through_selective: when it is
// asked for a second time; back: when the GPU evicts it.
enum class OffloadWrite : std::uint8_t { Through, ThroughSelective, Back };
inline constexpr std::string_view offload_write_names[] = {"through", "through_selective", "back"};
constexpr std::span<const std::string_view> names_of(OffloadWrite) { return offload_write_names; }

// What a waiting request does about cached blocks below the GPU. wait: they are loaded when it starts, and hold the
// step up. ahead: they are loaded beside other steps as soon as there are blocks for them, and the request starts once
// they are there. The others are of SGLang, about storage: prefetching to the host begins at once, and the request
// starts with what is there when its turn comes (best_effort), when all is (wait_complete), or after a while (timeout).
enum class OffloadPrefetch : std::uint8_t { Wait, Ahead, BestEffort, WaitComplete, Timeout };
inline constexpr std::string_view offload_prefetch_names[] = {"wait", "ahead", "best_effort", "wait_complete",
                                                              "timeout"};
constexpr std::span<const std::string_view> names_of(OffloadPrefetch) { return offload_prefetch_names; }

struct Config {
  StepKind steps = StepKind::Mixed;
  std::int32_t block_size = 16;  // tokens
  std::int64_t blocks = 0;       // usable blocks of the pool, the null block excluded
  std::vector<KvKind> kinds;     // of groups that share the pool; empty: one group that keeps everything
  std::int32_t max_num_seqs = 256;
  std::int32_t max_num_batched_tokens = 8192;  // prefill_first: of prefill in a step, SGLang's chunked_prefill_size
  std::int32_t max_model_len = 16384;
  bool enable_prefix_caching = true;
  bool enable_chunked_prefill = true;
  bool async_scheduling = true;
  Loop loop = Loop::Automatic;
  // Mixed and prefill-first steps: requests that one becomes, each of one sequence (n > 1). See fan_out.hpp.
  std::int32_t samples = 1;
  // Whatever moves blocks to the host.
  double block_bytes = 0;  // of one block, per GPU
  HostLink host_link;
  std::int64_t offload_blocks = 0;  // blocks of cached prefixes that the host keeps
  std::int64_t storage_blocks = 0;  // and storage below it
  StorageLink storage_link;
  OffloadWrite offload_write = OffloadWrite::Through;
  OffloadPrefetch offload_prefetch = OffloadPrefetch::Wait;
  std::int32_t layers = 1;  // of the model: prefill-first steps load layer by layer while they compute
  // Mixed steps only.
  KvAllocation kv_allocation = KvAllocation::Paged;
  CapacityPolicy capacity_policy = CapacityPolicy::MaxUtilization;
  bool reserve_full_isl = true;                   // admission needs room for the whole current sequence
  std::int32_t long_prefill_token_threshold = 0;  // 0: off
  double watermark = 0.0;                         // share of blocks kept free at admission while something runs
  Stop stop = Stop::Length;
  // Prefill-first steps only.
  SchedulePolicy schedule_policy = SchedulePolicy::Fcfs;
  double schedule_conservativeness = 1.0;   // scales the share of outputs that admission expects to be used
  std::int32_t max_prefill_tokens = 16384;  // of a prefill step, unless its only prompt is longer
  bool enable_mixed_chunk = false;          // decodes join prefill steps
  // Group steps only.
  Branching branching;
  PreemptionMode preemption = PreemptionMode::Automatic;
  std::int64_t swap_blocks = 0;  // blocks that the host holds
  core::Duration block_copy;     // of one block within a GPU
};

}  // namespace servecast::engine
