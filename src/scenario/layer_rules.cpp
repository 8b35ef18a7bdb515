#include "scenario/layer_rules.hpp"

#include "model/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace servecast::scenario {
namespace {

bool attends_to_encoder(const model::Architecture& m) {
  const auto blocks = model::blocks_of(m).attention;
  return std::any_of(blocks.begin(), blocks.end(), [](const model::AttentionBlocks& b) { return b.cross; });
}

bool has_windows(const model::Architecture& m) {
  const auto blocks = model::blocks_of(m).attention;
  return std::any_of(blocks.begin(), blocks.end(), [](const model::AttentionBlocks& b) { return b.windowed > 0; });
}

// Specified: TensorRT-LLM asserts that block reuse is off for its hybrid cache (mamba_cache_manager.py); vLLM has no
// prefix caching for cross-attention (single_type_kv_cache_manager.py).
void check_caching(const Stack& stack, const model::Architecture& m, const std::string& place,
                   core::Problems& problems) {
  if (stack.engine == Engine::Trtllm && m.state)
    problems.add(place + "/enable_prefix_caching",
                 "TensorRT-LLM reuses no blocks of a model with recurrent states, as {} is; set it to false", m.name);
  if (stack.engine == Engine::Vllm && attends_to_encoder(m))
    problems.add(place + "/enable_prefix_caching",
                 "vLLM caches no prefixes of a model that attends to an encoder, as {} does; set it to false", m.name);
}

// Specified: vLLM's configuration of the mamba cache mode `align`.
void check_states(const KvLayout& layout, const engine::Settings& s, const std::string& place,
                  core::Problems& problems) {
  if (!*s.enable_chunked_prefill)
    problems.add(place + "/enable_chunked_prefill",
                 "prompts are split where states are cached; set it to true, or enable_prefix_caching to false");
  if (*s.max_num_batched_tokens < layout.block_size)
    problems.add(place + "/max_num_batched_tokens",
                 "{} is below the {} tokens between cached states; raise it, or set enable_prefix_caching to false",
                 *s.max_num_batched_tokens, layout.block_size);
  if (*s.long_prefill_token_threshold > 0 && *s.long_prefill_token_threshold < layout.block_size)
    problems.add(place + "/long_prefill_token_threshold",
                 "{} is below the {} tokens between cached states; raise it, or set enable_prefix_caching to false",
                 *s.long_prefill_token_threshold, layout.block_size);
}

void check_groups_share(const Stack& stack, const model::Architecture& m, const engine::Settings& s,
                        const std::string& place, core::Problems& problems) {
  const std::string groups = fmt::format("the groups of layers of {}, which share a pool", m.name);
  if (stack.scheduler != Scheduler::VllmV1)
    problems.add(place, "hybrid_groups of stack {} needs the scheduler vllm-v1; leave it out", stack.name);
  if (*s.kv_allocation != engine::KvAllocation::Paged)
    problems.add(place + "/kv_allocation", "contiguous regions are not for {}; use paged", groups);
  if (s.kv_offload_gib)
    problems.add(place + "/kv_offload_gib",
                 "cached prefixes in host memory are not in this version of servecast for {}; leave it out", groups);
}

}  // namespace

// Specified: vLLM's ModelConfig.verify_with_parallel_config. KV heads are split first, and tokens only over ranks that
// would hold the same head; of a latent cache every rank holds all.
void check_decode_context(const FitInput& in, const std::string& place, core::Problems& problems) {
  const std::int32_t c = in.decode_context;
  if (c <= 1) return;
  if (!in.stack.decode_context)
    return problems.add(place, "{} is not for stack {}, which does not know it; use 1", c, in.stack.name);
  if (in.tensor % c != 0) return problems.add(place, "{} does not divide the {} tensor ranks", c, in.tensor);
  const auto blocks = model::blocks_of(in.architecture);
  if (blocks.state > 0 || has_windows(in.architecture) || attends_to_encoder(in.architecture))
    return problems.add(place,
                        "{} is not in this version of servecast for {}, whose layers keep different things; use 1", c,
                        in.architecture.name);
  for (const model::AttentionBlocks& g : blocks.attention) {
    const model::Attention& a = *g.attention;
    if (a.indexer_heads > 0)
      return problems.add(place, "{} is not in this version of servecast for {}, whose attention has an indexer; use 1",
                          c, in.architecture.name);
    if (a.kind == model::AttentionKind::Mla) continue;
    const std::int32_t copies = in.tensor / a.kv_heads;
    if (copies < c)
      return problems.add(place,
                          "{} is above {}, the tensor ranks that hold the same one of the {} KV heads of {}; lower it",
                          c, std::max(1, copies), a.kv_heads, in.architecture.name);
  }
}

// Specified: vLLM supports it for hybrids and leaves it off ("opt-in", arg_utils.py).
bool caches_prefixes(const Stack& stack, const model::Architecture& m) {
  if (stack.engine == Engine::Sglang) return true;
  return !m.state && !(stack.engine == Engine::Vllm && attends_to_encoder(m));
}

void check_layers(const Stack& stack, const model::Architecture& m, const KvLayout& layout, const engine::Settings& s,
                  const std::string& place, core::Problems& problems) {
  if (*s.enable_prefix_caching) check_caching(stack, m, place, problems);
  const auto blocks = model::blocks_of(m).attention;
  if (s.mla_row_alignment && std::none_of(blocks.begin(), blocks.end(), [](const model::AttentionBlocks& b) {
        return b.attention->kind == model::AttentionKind::Mla;
      }))
    problems.add(place + "/mla_row_alignment", "pads the latent cache of MLA, which {} does not have; leave it out",
                 m.name);
  if (layout.kinds.empty()) return;
  check_groups_share(stack, m, s, place, problems);
  if (*s.enable_prefix_caching && layout.state_groups > 0) check_states(layout, s, place, problems);
}

std::string pools_left_out(const Stack& stack, const model::Architecture& m, const engine::Settings& s) {
  if (stack.engine != Engine::Sglang) return "";
  if (has_windows(m))
    return fmt::format(
        "{}: SGLang keeps layers with a window in a pool of their own (swa_full_tokens_ratio); this run lets every "
        "layer keep every token, as with disable_hybrid_swa_memory, so no more fits than there",
        m.name);
  if (m.state && *s.enable_prefix_caching)
    return fmt::format(
        "{}: SGLang finds a cached prefix where it kept a recurrent state; this run finds every cached token, an upper "
        "bound on hits",
        m.name);
  return "";
}

}  // namespace servecast::scenario
