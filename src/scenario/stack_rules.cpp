#include "scenario/stack.hpp"

#include <string>

namespace servecast::scenario {

void check_settings(const engine::Settings& s, std::int32_t model_max_len, const std::string& place,
                    core::Problems& problems) {
  if (*s.max_num_batched_tokens < *s.max_num_seqs)
    problems.add(place + "/max_num_batched_tokens",
                 "{} is below max_num_seqs {}; a step must hold one token of each request", *s.max_num_batched_tokens,
                 *s.max_num_seqs);
  if (!*s.enable_chunked_prefill && *s.max_num_batched_tokens < *s.max_model_len)
    problems.add(place + "/max_num_batched_tokens",
                 "{} is below max_model_len {}; without chunked prefill a step must hold a whole prompt",
                 *s.max_num_batched_tokens, *s.max_model_len);
  if (*s.long_prefill_token_threshold > *s.max_model_len)
    problems.add(place + "/long_prefill_token_threshold", "{} is above max_model_len {}",
                 *s.long_prefill_token_threshold, *s.max_model_len);
  if (*s.max_model_len > model_max_len)
    problems.add(place + "/max_model_len", "{} is above the {} positions the model states; lower it", *s.max_model_len,
                 model_max_len);
}

namespace {

constexpr std::string_view scheduler_text(Scheduler s) { return scheduler_names[static_cast<std::size_t>(s)]; }

// What one contiguous region a request does not go with.
void check_contiguous(Scheduler scheduler, const engine::Settings& s, const std::string& place,
                      core::Problems& problems) {
  if (*s.kv_allocation == engine::KvAllocation::Paged) return;
  if (scheduler != Scheduler::VllmV1)
    problems.add(place + "/kv_allocation",
                 "contiguous baselines go with the scheduler vllm-v1 (stacks of vLLM from 0.8 on); this one's is {}",
                 scheduler_text(scheduler));
  if (*s.enable_prefix_caching)
    problems.add(place + "/enable_prefix_caching", "contiguous regions share nothing; set it to false");
  if (*s.async_scheduling)
    problems.add(place + "/async_scheduling", "contiguous baselines schedule synchronously; set it to false");
  if (*s.stop != engine::Stop::Length)
    problems.add(place + "/stop", "contiguous baselines foresee the end of an output; leave this out");
  if (*s.long_prefill_token_threshold > 0)
    problems.add(place + "/long_prefill_token_threshold", "contiguous baselines have no such limit; set it to 0");
  if (*s.watermark > 0) problems.add(place + "/watermark", "contiguous baselines keep no blocks free; set it to 0");
}

// Settings that do nothing under the scheduler, so that a user who sets one learns it.
void check_sglang(const engine::Settings& s, const std::string& place, core::Problems& problems) {
  if (*s.long_prefill_token_threshold > 0)
    problems.add(place + "/long_prefill_token_threshold",
                 "SGLang has no such limit; use max_num_batched_tokens, its "
                 "chunked_prefill_size");
  if (*s.watermark > 0)
    problems.add(place + "/watermark", "SGLang keeps no blocks free; use schedule_conservativeness");
  if (!*s.scheduler_reserve_full_isl)
    problems.add(place + "/scheduler_reserve_full_isl", "SGLang always admits by whole prompts");
  if (*s.stop != engine::Stop::Length)
    problems.add(place + "/stop", "SGLang foresees no end of an output, whatever ends it; leave this out");
  if (*s.enable_chunked_prefill && *s.max_num_batched_tokens % *s.block_size != 0)
    problems.add(place + "/max_num_batched_tokens", "{} is no multiple of block_size {}; chunks are whole pages",
                 *s.max_num_batched_tokens, *s.block_size);
  if (*s.enable_mixed_chunk && !*s.enable_chunked_prefill)
    problems.add(place + "/enable_mixed_chunk", "true needs enable_chunked_prefill");
}

void check_trtllm(const engine::Settings& s, const std::string& place, core::Problems& problems) {
  if (*s.long_prefill_token_threshold > 0)
    problems.add(place + "/long_prefill_token_threshold",
                 "TensorRT-LLM has no such limit; use max_num_batched_tokens, "
                 "its max_num_tokens");
  if (*s.watermark > 0) problems.add(place + "/watermark", "TensorRT-LLM keeps no blocks free; use capacity_policy");
  if (!*s.scheduler_reserve_full_isl)
    problems.add(place + "/scheduler_reserve_full_isl", "TensorRT-LLM always admits by whole prompts at least");
}

void check_v0(const engine::Settings& s, const std::string& place, core::Problems& problems) {
  if (*s.enable_prefix_caching && *s.enable_chunked_prefill && *s.max_num_batched_tokens < *s.block_size)
    problems.add(place + "/max_num_batched_tokens",
                 "{} is below block_size {}; with prefix caching vLLM v0 computes prompts by whole blocks",
                 *s.max_num_batched_tokens, *s.block_size);
  if (*s.async_scheduling) problems.add(place + "/async_scheduling", "vLLM v0 schedules between steps");
  if (*s.long_prefill_token_threshold > 0)
    problems.add(place + "/long_prefill_token_threshold", "vLLM v0 has no such limit; use max_num_batched_tokens");
  if (*s.scheduler_reserve_full_isl)
    problems.add(place + "/scheduler_reserve_full_isl", "vLLM v0 always admits by whole prompts; leave this out");
  if (*s.stop != engine::Stop::Length)
    problems.add(place + "/stop", "vLLM v0 learns every end at once, whatever ends an output; leave this out");
}

// Keys that say more about tiers below the GPU, without the host that comes first.
void check_offload_alone(const engine::Settings& s, const std::string& place, core::Problems& problems) {
  const auto lone = [&](bool given, std::string_view key) {
    if (given) problems.add(place + "/" + std::string(key), "given without kv_offload_gib; give both or none");
  };
  lone(s.kv_offload_write.has_value(), "kv_offload_write");
  lone(s.kv_offload_prefetch.has_value(), "kv_offload_prefetch");
  lone(s.kv_offload_nvme_gib.has_value(), "kv_offload_nvme_gib");
  lone(s.kv_offload_nvme_read_gb_s.has_value(), "kv_offload_nvme_read_gb_s");
  lone(s.kv_offload_nvme_write_gb_s.has_value(), "kv_offload_nvme_write_gb_s");
}

void check_offload(Scheduler scheduler, const engine::Settings& s, const std::string& place, core::Problems& problems) {
  if (!s.kv_offload_gib) {
    check_offload_alone(s, place, problems);
    return;
  }
  if (scheduler == Scheduler::VllmV0) {
    problems.add(
        place + "/kv_offload_gib",
        "the scheduler vllm-v0 keeps no evicted prefixes but through connectors, which are not in this version of "
        "servecast; use a vLLM stack from 0.8 on");
    return;
  }
  using engine::OffloadPrefetch;
  const OffloadPrefetch prefetch = *s.kv_offload_prefetch;
  const bool sglang = scheduler == Scheduler::Sglang;
  const bool of_sglang = prefetch != OffloadPrefetch::Wait && prefetch != OffloadPrefetch::Ahead;
  const std::string_view policies = sglang                           ? "best_effort, wait_complete or timeout"
                                    : scheduler == Scheduler::Trtllm ? "wait"
                                                                     : "wait or ahead";
  if (sglang != of_sglang || (scheduler == Scheduler::Trtllm && prefetch == OffloadPrefetch::Ahead))
    problems.add(place + "/kv_offload_prefetch", "the scheduler {} has no {}; use {}", scheduler_text(scheduler),
                 names_of(prefetch)[static_cast<std::size_t>(prefetch)], policies);
  if (scheduler == Scheduler::Trtllm && *s.kv_offload_write == engine::OffloadWrite::ThroughSelective)
    problems.add(place + "/kv_offload_write", "the scheduler trtllm has no through_selective; use back or through");
  if (!*s.enable_prefix_caching)
    problems.add(place + "/kv_offload_gib", "keeps cached prefixes, and enable_prefix_caching is false");
  if (!s.kv_offload_nvme_gib && (s.kv_offload_nvme_read_gb_s || s.kv_offload_nvme_write_gb_s))
    problems.add(place + (s.kv_offload_nvme_read_gb_s ? "/kv_offload_nvme_read_gb_s" : "/kv_offload_nvme_write_gb_s"),
                 "given without kv_offload_nvme_gib; give both or none");
}

template <typename T>
void refuse(const std::optional<T>& value, std::string_view key, Scheduler owner, Scheduler scheduler,
            const std::string& place, core::Problems& problems) {
  if (value && scheduler != owner)
    problems.add(place + "/" + std::string(key), "is a setting of the {} scheduler; this stack's is {}",
                 scheduler_text(owner), scheduler_text(scheduler));
}

}  // namespace

void check_scheduler_settings(Scheduler scheduler, const engine::Settings& s, const std::string& place,
                              core::Problems& problems) {
  refuse(s.capacity_policy, "capacity_policy", Scheduler::Trtllm, scheduler, place, problems);
  refuse(s.schedule_policy, "schedule_policy", Scheduler::Sglang, scheduler, place, problems);
  refuse(s.schedule_conservativeness, "schedule_conservativeness", Scheduler::Sglang, scheduler, place, problems);
  refuse(s.max_prefill_tokens, "max_prefill_tokens", Scheduler::Sglang, scheduler, place, problems);
  refuse(s.enable_mixed_chunk, "enable_mixed_chunk", Scheduler::Sglang, scheduler, place, problems);
  check_contiguous(scheduler, s, place, problems);
  refuse(s.preemption_mode, "preemption_mode", Scheduler::VllmV0, scheduler, place, problems);
  refuse(s.swap_space_gib, "swap_space_gib", Scheduler::VllmV0, scheduler, place, problems);
  check_offload(scheduler, s, place, problems);
  if (scheduler == Scheduler::VllmV0) check_v0(s, place, problems);
  if (scheduler == Scheduler::Sglang) check_sglang(s, place, problems);
  if (scheduler == Scheduler::Trtllm) check_trtllm(s, place, problems);
}

}  // namespace servecast::scenario
