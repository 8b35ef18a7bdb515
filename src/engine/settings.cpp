#include "engine/settings.hpp"

#include "config/fields.hpp"

namespace servecast::engine {
namespace {

using config::above;
using config::closed;

// Largest count of tokens or sequences an engine configuration may state; far above any real one, safe in int32.
constexpr double most = 1 << 30;

template <typename T>
void take(std::optional<T>& base, const std::optional<T>& over) {
  if (over) base = over;
}

void describe_scheduler(config::Fields& f, Settings& s) {
  f.field("enable_prefix_caching", s.enable_prefix_caching, "reuse KV blocks of equal prompt prefixes");
  f.field("enable_chunked_prefill", s.enable_chunked_prefill, "split prompts over steps and mix them with decodes");
  f.field("scheduler_reserve_full_isl", s.scheduler_reserve_full_isl,
          "admit a request only when its whole current sequence fits");
  f.field("async_scheduling", s.async_scheduling, "schedule the next step while the GPU works on this one");
  f.field("long_prefill_token_threshold", s.long_prefill_token_threshold, closed(0, most),
          "most tokens of one prompt in a step; 0: no such limit");
  f.field("watermark", s.watermark, {0, 1, false, true}, "share of blocks kept free at admission while something runs");
}

// Tiers below the GPU; docs/models/memory.md says which engine has which policy.
void describe_offload(config::Fields& f, Settings& s) {
  f.field("kv_offload_gib", s.kv_offload_gib, closed(0, 1e6),
          "all but vLLM v0: host memory per GPU that keeps cached prefixes which the GPU evicts");
  f.field("kv_offload_write", s.kv_offload_write,
          "when a block is copied to the host: through, as soon as it is full; through_selective, when it is asked for "
          "a second time; back, when the GPU evicts it");
  f.field("kv_offload_prefetch", s.kv_offload_prefetch,
          "what a waiting request does about its prefix below the GPU: wait until it starts and hold the step up, or "
          "load it ahead beside other steps (vLLM); SGLang, of NVMe: start with what has come (best_effort), with all "
          "of it (wait_complete), or after a timeout");
  f.field("kv_offload_nvme_gib", s.kv_offload_nvme_gib, closed(0, 1e6), "NVMe per GPU, a tier below the host");
  f.field("kv_offload_nvme_read_gb_s", s.kv_offload_nvme_read_gb_s, above(0, 1e6),
          "NVMe read bandwidth per GPU; absent: the GPU's share of its node's");
  f.field("kv_offload_nvme_write_gb_s", s.kv_offload_nvme_write_gb_s, above(0, 1e6),
          "NVMe write bandwidth per GPU; absent: the GPU's share of its node's");
}

// Keys of one engine's scheduler; the others refuse them.
void describe_engines(config::Fields& f, Settings& s) {
  f.field("capacity_policy", s.capacity_policy,
          "TensorRT-LLM: guaranteed_no_evict starts a request when prompt and longest output of all that run fit, "
          "max_utilization when its prompt does, and pauses the newest when memory runs out");
  f.field("schedule_policy", s.schedule_policy, "SGLang: order of the waiting queue; lpm: longest cached prefix first");
  f.field("schedule_conservativeness", s.schedule_conservativeness, above(0, 10),
          "SGLang: scales the share of output limits that admission expects to be used");
  f.field("max_prefill_tokens", s.max_prefill_tokens, closed(1, most),
          "SGLang: most prompt tokens of a prefill step, unless a single prompt is longer");
  f.field("enable_mixed_chunk", s.enable_mixed_chunk, "SGLang: decodes join the steps that prefill");
  describe_offload(f, s);
  f.field("preemption_mode", s.preemption_mode,
          "vLLM v0: preempted requests are recomputed or swapped to the host; automatic: swapped if they have several "
          "sequences");
  f.field("swap_space_gib", s.swap_space_gib, closed(0, 1e6), "vLLM v0: host memory for swapped blocks, per GPU");
}

}  // namespace

void describe(config::Fields& f, Settings& s) {
  f.field("block_size", s.block_size, closed(1, 65536), "tokens per KV block");
  f.field("max_num_seqs", s.max_num_seqs, closed(1, most), "most requests running at once");
  f.field("max_num_batched_tokens", s.max_num_batched_tokens, closed(1, most), "token budget of a step");
  f.field("max_model_len", s.max_model_len, closed(1, most),
          "longest prompt and output together; absent: the model's own limit");
  f.field("gpu_memory_utilization", s.gpu_memory_utilization, above(0, 1),
          "share of GPU memory the engine may use, as the engine defines it");
  describe_scheduler(f, s);
  describe_engines(f, s);
  f.field("cuda_graphs", s.cuda_graphs, "replay decode steps as captured graphs; false: eager execution");
  f.field("num_gpu_blocks_override", s.num_gpu_blocks_override, closed(1, 1e12),
          "number of KV blocks, instead of what memory allows");
  f.field("kv_cache_memory_gib", s.kv_cache_memory_gib, above(0, 1e6),
          "memory of the KV cache per GPU in GiB, instead of what profiling leaves");
  f.field("kv_allocation", s.kv_allocation,
          "how requests get KV memory: in blocks, or as the baselines before paging did, one contiguous region for "
          "prompt and the longest, next power of two or true output");
  f.field("mla_row_alignment", s.mla_row_alignment, closed(1, 4096),
          "MLA: bytes that a token's row of the cache is padded to in every layer; vLLM 0.7 padded to 256 "
          "(VLLM_CUDA_MEM_ALIGN_KV_CACHE), so that 576 elements of bf16 took the room of 640; absent: no padding");
  f.field("stop", s.stop, "how requests end: at their output length, foreseen, or at an end token, seen a step late");
  f.field("loop", s.loop, "engine loop: automatic, or plain step by step; both give the same result");
  if (!f.reading()) return;
  if (s.num_gpu_blocks_override && s.kv_cache_memory_gib)
    f.problem("num_gpu_blocks_override", "given together with kv_cache_memory_gib; keep one of them");
}

Settings merged(const Settings& base, const Settings& over) {
  Settings out = base;
  take(out.block_size, over.block_size);
  take(out.max_num_seqs, over.max_num_seqs);
  take(out.max_num_batched_tokens, over.max_num_batched_tokens);
  take(out.max_model_len, over.max_model_len);
  take(out.gpu_memory_utilization, over.gpu_memory_utilization);
  take(out.enable_prefix_caching, over.enable_prefix_caching);
  take(out.enable_chunked_prefill, over.enable_chunked_prefill);
  take(out.scheduler_reserve_full_isl, over.scheduler_reserve_full_isl);
  take(out.async_scheduling, over.async_scheduling);
  take(out.cuda_graphs, over.cuda_graphs);
  take(out.long_prefill_token_threshold, over.long_prefill_token_threshold);
  take(out.watermark, over.watermark);
  take(out.num_gpu_blocks_override, over.num_gpu_blocks_override);
  take(out.kv_cache_memory_gib, over.kv_cache_memory_gib);
  take(out.capacity_policy, over.capacity_policy);
  take(out.schedule_policy, over.schedule_policy);
  take(out.schedule_conservativeness, over.schedule_conservativeness);
  take(out.max_prefill_tokens, over.max_prefill_tokens);
  take(out.enable_mixed_chunk, over.enable_mixed_chunk);
  take(out.kv_allocation, over.kv_allocation);
  take(out.mla_row_alignment, over.mla_row_alignment);
  take(out.kv_offload_gib, over.kv_offload_gib);
  take(out.kv_offload_write, over.kv_offload_write);
  take(out.kv_offload_prefetch, over.kv_offload_prefetch);
  take(out.kv_offload_nvme_gib, over.kv_offload_nvme_gib);
  take(out.kv_offload_nvme_read_gb_s, over.kv_offload_nvme_read_gb_s);
  take(out.kv_offload_nvme_write_gb_s, over.kv_offload_nvme_write_gb_s);
  take(out.preemption_mode, over.preemption_mode);
  take(out.swap_space_gib, over.swap_space_gib);
  take(out.stop, over.stop);
  take(out.loop, over.loop);
  return out;
}

}  // namespace servecast::engine
