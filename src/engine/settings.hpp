// Engine settings as a user or a stack file writes them: every one optional. A scenario's value wins over its stack's.
#pragma once

#include "engine/config.hpp"

#include <cstdint>
#include <optional>

namespace servecast::config {
class Fields;
}

namespace servecast::engine {

struct Settings {
  std::optional<std::int32_t> block_size;
  std::optional<std::int32_t> max_num_seqs;
  std::optional<std::int32_t> max_num_batched_tokens;
  std::optional<std::int32_t> max_model_len;
  std::optional<double> gpu_memory_utilization;
  std::optional<bool> enable_prefix_caching;
  std::optional<bool> enable_chunked_prefill;
  std::optional<bool> scheduler_reserve_full_isl;
  std::optional<bool> async_scheduling;
  std::optional<bool> cuda_graphs;  // false: enforce_eager
  std::optional<std::int32_t> long_prefill_token_threshold;
  std::optional<double> watermark;
  std::optional<std::int64_t> num_gpu_blocks_override;
  std::optional<double> kv_cache_memory_gib;
  std::optional<CapacityPolicy> capacity_policy;  // TensorRT-LLM
  std::optional<SchedulePolicy> schedule_policy;  // SGLang, and the three below
  std::optional<double> schedule_conservativeness;
  std::optional<std::int32_t> max_prefill_tokens;
  std::optional<bool> enable_mixed_chunk;
  std::optional<KvAllocation> kv_allocation;
  std::optional<std::int32_t> mla_row_alignment;  // bytes; MLA only
  std::optional<double> kv_offload_gib;           // all but vLLM v0, and the five below
  std::optional<OffloadWrite> kv_offload_write;
  std::optional<OffloadPrefetch> kv_offload_prefetch;
  std::optional<double> kv_offload_nvme_gib;
  std::optional<double> kv_offload_nvme_read_gb_s;
  std::optional<double> kv_offload_nvme_write_gb_s;
  std::optional<PreemptionMode> preemption_mode;  // vLLM v0, and the one below
  std::optional<double> swap_space_gib;
  std::optional<Stop> stop;
  std::optional<Loop> loop;
};

void describe(config::Fields& f, Settings& s);

// Values of `over` where given, else of `base`.
Settings merged(const Settings& base, const Settings& over);

}  // namespace servecast::engine
