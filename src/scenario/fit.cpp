#include "scenario/fit.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/buddy_allocator.hpp"
#include "model/blocks.hpp"
#include "model/kv_bytes.hpp"
#include "scenario/layer_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace servecast::scenario {
namespace {

constexpr double tower_element_bytes = 2;
constexpr double table_element_bytes = 2;  // rotary tables are kept in the activations' 16-bit type

// Marlin kernels, which serve MXFP4 experts on GPUs older than Hopper, pad both widths of an expert. Derived: 65.90 GiB
// for gpt-oss-120b, logged 65.97 (vllm-project/vllm#23278).
constexpr std::int32_t marlin_hidden_multiple = 256;
constexpr std::int32_t marlin_intermediate_multiple = 128;

model::Shard shard_of(const FitInput& in) {
  model::Shard s;
  s.tensor = in.tensor;
  s.padding = in.padding.value_or(padding_of(in.formats, in.gpu));
  return s;
}

// One table of cosines and sines for every position the model states and every rotary width, shared by its layers, on
// each rank.
double table_bytes(const FitInput& in) {
  const model::Architecture& m = in.architecture;
  std::vector<std::int32_t> widths;
  for (const model::AttentionBlocks& g : model::blocks_of(m).attention) {
    const bool mla = g.attention->kind == model::AttentionKind::Mla;
    const std::int32_t rotary = mla ? g.attention->qk_rope_dim : g.attention->head_dim;
    if (g.cross || std::find(widths.begin(), widths.end(), rotary) != widths.end()) continue;
    widths.push_back(rotary);
  }
  double rotation = 0;
  for (const std::int32_t rotary : widths)
    rotation += m.learned_positions > 0 ? 0.0 : m.max_position * static_cast<double>(rotary) * table_element_bytes;
  return rotation + static_cast<double>(model::absorbed_mla_bytes(m, shard_of(in)));
}

double moe_elements(const model::Architecture& m, std::int32_t tensor) {
  if (!m.moe) return 0;
  // Fused expert kernels keep one workspace for gate-and-up and down results in turn, and one for the product.
  const double width = static_cast<double>(m.moe->intermediate) / tensor;
  const double matrices = m.gated_mlp ? 2 : 1;
  const double result = m.moe->latent > 0 ? m.moe->latent : m.hidden;
  const double routed = m.moe->top_k * (std::max(matrices * width, result) + width);
  return routed + (matrices + 1) * m.moe->shared_intermediate / tensor + 2.0 * m.moe->latent;
}

// Projected q, k, v, and q again as the attention's result.
double attention_elements(const model::Attention& a, std::int32_t tensor) {
  const double heads = static_cast<double>(a.heads) / tensor;
  if (a.kind == model::AttentionKind::Mla)
    return heads * (a.qk_nope_dim + a.qk_rope_dim + a.qk_nope_dim + 2.0 * a.v_dim) + a.q_lora_rank + a.kv_lora_rank;
  const double width = static_cast<double>(a.head_dim) + model::value_width(a);
  const double gate = a.output_gate ? heads * model::value_width(a) : 0.0;
  return heads * width + model::local_kv_heads(a, tensor) * width + gate;
}

// The fused input projection, what the convolution makes of it, and the result.
double state_elements(const model::StateMixer& s, std::int32_t tensor) {
  const model::StateWidths w = model::state_widths(s, tensor);
  return static_cast<double>(2 * w.conv + 2 * w.value + 2 * w.heads);
}

// Of a token in all layers of the draft model; the engine keeps its cache in the target's format.
std::int64_t draft_token_bytes(const FitInput& in) {
  return in.draft ? model::kv_bytes(*in.draft, in.kv_cache, in.tensor).per_token : 0;
}

KvRules kv_rules(const FitInput& in, const engine::Settings& s) {
  return {in.stack.hybrid_groups, s.enable_prefix_caching.value_or(false), in.decode_context,
          s.mla_row_alignment.value_or(1), draft_token_bytes(in)};
}

// Why the draft model cannot stand beside the target, or nothing.
std::optional<std::string> draft_problem(const FitInput& in) {
  const model::Architecture& d = *in.draft;
  model::Shard shard;
  shard.tensor = in.tensor;
  if (auto problem = model::shard_problem(d, shard)) return problem;
  if (auto problem = model::kv_format_problem(d, in.kv_cache)) return problem;
  const auto blocks = model::blocks_of(d);
  for (const model::AttentionBlocks& g : blocks.attention)
    if (g.cross || g.windowed > 0)
      return fmt::format("draft model {} keeps less than every token in some layers", d.name);
  if (d.state && blocks.state > 0) return fmt::format("draft model {} has recurrent states", d.name);
  return std::nullopt;
}

// Engines log whole sets of blocks times the tokens of their smallest.
std::int64_t logged_block_size(const KvLayout& l) {
  return l.windowed_groups > 0 && l.full_groups > 0 ? std::min(l.block_size, l.windowed_block_size) : l.block_size;
}

// Requests whose states a pool of their own holds; cached prefixes take slots, too.
std::int64_t pooled_requests(const FitInput& in, const FitReport& r) {
  if (r.kv.pooled_state_bytes <= 0) return std::numeric_limits<std::int64_t>::max();
  const double each = *r.settings.enable_prefix_caching ? std::max(1.0, in.stack.memory.states_per_request) : 1;
  return static_cast<std::int64_t>(static_cast<double>(r.capacity.state_slots) / each);
}

bool contiguous(const engine::Settings& s) { return *s.kv_allocation != engine::KvAllocation::Paged; }

// Contiguous regions of that many slots that a pool holds at once. Powers of two pack an arena without a gap but at its
// end.
std::int64_t regions(const KvLayout& layout, std::int64_t blocks, std::int64_t slots) {
  return blocks * layout.block_size / memory::BuddyAllocator::rounded(slots);
}

// Blocks that a pool needs for one request of max_model_len.
std::int64_t blocks_needed(const FitReport& r) {
  const std::int64_t longest = *r.settings.max_model_len;
  if (contiguous(r.settings)) return (memory::BuddyAllocator::rounded(longest) + r.kv.block_size - 1) / r.kv.block_size;
  // An asynchronous scheduler has two steps in flight.
  const std::int64_t steps = *r.settings.async_scheduling ? 2 : 1;
  return blocks_of(r.kv, longest, steps * *r.settings.max_num_batched_tokens);
}

// How many requests fit, and how many run at once. Where groups share the pool, the engine's own pool knows them. Else
// what a request holds whatever its length is set aside for as many requests of the mean length as fit, so that the
// engine's pool knows tokens only.
void count_requests(const FitInput& in, FitReport& r) {
  const std::int64_t usable = r.capacity.usable_blocks;
  const double given = in.mean_request_tokens > 0 ? in.mean_request_tokens : *r.settings.max_model_len;
  const std::int64_t mean = std::max<std::int64_t>(1, static_cast<std::int64_t>(given));
  const std::int64_t pooled = pooled_requests(in, r);
  if (contiguous(r.settings)) {
    const bool longest = *r.settings.kv_allocation == engine::KvAllocation::ContiguousMax;
    r.longest_requests = regions(r.kv, usable, *r.settings.max_model_len);
    r.mean_requests = longest ? r.longest_requests : regions(r.kv, usable, mean);
  } else {
    r.longest_requests = usable / blocks_needed(r);
    r.mean_requests = usable / blocks_held(r.kv, mean);
  }
  r.longest_requests = std::min(r.longest_requests, pooled);
  r.mean_requests = std::min(r.mean_requests, pooled);
  const bool set_aside = r.kv.kinds.empty() && r.kv.fixed_blocks > 0;
  r.seats = std::min<std::int64_t>(*r.settings.max_num_seqs, set_aside ? r.mean_requests : pooled);
  r.engine_blocks = set_aside ? std::max<std::int64_t>(0, usable - r.kv.fixed_blocks * r.seats) : usable;
}

memory::CapacityInput capacity_input(const FitInput& in, const FitReport& r) {
  const engine::Settings& s = r.settings;
  memory::CapacityInput c;
  c.gpu_memory_bytes = in.gpu.memory_gib * core::GiB;
  c.automatic_fraction = !s.gpu_memory_utilization;
  c.utilization = s.gpu_memory_utilization.value_or(0);
  c.weights_bytes = static_cast<double>(r.weights.total()) + r.tower_bytes + r.table_bytes + r.draft_bytes;
  c.layers = in.architecture.layers;
  c.hidden = in.architecture.hidden;
  c.widest_layer_elements = widest_layer_elements(in.architecture, in.tensor);
  c.vocab = in.architecture.vocab;
  c.max_num_batched_tokens = *s.max_num_batched_tokens;
  c.max_num_seqs = *s.max_num_seqs;
  c.tensor = in.tensor;
  c.fabric_links = in.gpu.scale_up_gb_s > 0;
  c.graphs = *s.cuda_graphs;
  const GpuClass* gpu_class = class_of(in.stack, in.gpu);
  c.graph_max_batch = gpu_class ? gpu_class->graph_max_batch : 0;
  c.block_bytes = r.kv.block_bytes;
  c.pooled_state_bytes = r.kv.pooled_state_bytes;
  c.kv_cache_memory_gib = s.kv_cache_memory_gib;
  c.num_gpu_blocks_override = s.num_gpu_blocks_override;
  c.blocks_needed = blocks_needed(r);
  return c;
}

std::string excess_of(const FitReport& r) {
  const memory::Capacity& c = r.capacity;
  const std::string left = core::bytes_text(std::max(0.0, c.most_kv_bytes));
  if (r.settings.num_gpu_blocks_override)
    return fmt::format("num_gpu_blocks_override {} needs {} per GPU, which has {} left: {} blocks fit",
                       core::count_text(c.blocks), core::bytes_text(c.kv_bytes), left, core::count_text(c.most_blocks));
  return fmt::format("kv_cache_memory_gib {:g} is more than the {} that a GPU has left",
                     *r.settings.kv_cache_memory_gib, left);
}

std::string reason_of(const FitReport& r) {
  if (r.fits) return "";
  const memory::Capacity& c = r.capacity;
  if (c.exceeds_memory) return excess_of(r);
  if (c.kv_bytes <= 0)
    return fmt::format("weights and working memory exceed the {} budget by {}", core::bytes_text(c.requested),
                       core::bytes_text(-c.kv_bytes));
  if (c.enough)
    return fmt::format("the memory for recurrent states holds {}, fewer than one running request may need",
                       core::counted(c.state_slots, "state"));
  const bool null_block = c.usable_blocks < c.blocks;
  return fmt::format("the KV cache holds {}{}, one request of max_model_len {} needs {} more",
                     core::counted(r.kv.kinds.empty() ? r.engine_blocks * r.kv.block_size : r.kv_tokens, "token"),
                     null_block ? " beside the block that the engine keeps" : "",
                     core::count_text(*r.settings.max_model_len), core::bytes_text(c.shortfall));
}

}  // namespace

model::Padding padding_of(const model::TensorFormats& formats, const hardware::Gpu& gpu) {
  if (formats.experts != precision::Format::Mxfp4 || gpu.dense.fp4 > 0) return {};
  model::Padding p = model::mxfp4_expert_padding();
  if (gpu.architecture != "hopper") {
    p.expert_hidden_multiple = marlin_hidden_multiple;
    p.expert_intermediate_multiple = marlin_intermediate_multiple;
    p.expert_scales = true;
  }
  return p;
}

double widest_layer_elements(const model::Architecture& m, std::int32_t tensor) {
  const model::Blocks blocks = model::blocks_of(m);
  double widest = moe_elements(m, tensor);
  for (const model::DenseBlocks& g : blocks.dense)
    widest = std::max(widest, (m.gated_mlp ? 3.0 : 2.0) * g.width / tensor);
  for (const model::AttentionBlocks& g : blocks.attention)
    widest = std::max(widest, attention_elements(*g.attention, tensor));
  if (m.state && blocks.state > 0) widest = std::max(widest, state_elements(*m.state, tensor));
  return widest;
}

std::optional<std::string> fit_problem(const FitInput& in) {
  if (auto problem = model::shard_problem(in.architecture, shard_of(in))) return problem;
  if (auto problem = model::kv_format_problem(in.architecture, in.kv_cache)) return problem;
  if (in.architecture.state && in.stack.engine == Engine::Vllm && !in.stack.hybrid_groups)
    return fmt::format("how {} keeps recurrent states is not described; use a vLLM stack from 0.11 on", in.stack.name);
  if (in.draft)
    if (auto problem = draft_problem(in)) return problem;
  return layout_problem(in.architecture, in.kv_cache, in.tensor, kv_rules(in, settings_of(in)));
}

engine::Settings settings_of(const FitInput& in) {
  return resolved_settings(in.stack, in.gpu, in.architecture.max_position, in.settings,
                           caches_prefixes(in.stack, in.architecture));
}

KvLayout layout_of(const FitInput& in, const engine::Settings& s) {
  return kv_layout(in.architecture, in.kv_cache, in.tensor, *s.block_size, kv_rules(in, s));
}

FitReport fit(const FitInput& in) {
  const std::optional<std::string> problem = fit_problem(in);
  SERVECAST_ENSURE(!problem, "{}", problem.value_or(""));
  FitReport r;
  r.settings = settings_of(in);
  r.weights = model::weight_bytes(in.architecture, in.formats, shard_of(in));
  r.tower_bytes = static_cast<double>(in.architecture.tower_parameters) * tower_element_bytes;
  r.table_bytes = table_bytes(in);
  if (in.draft) {
    model::Shard shard;
    shard.tensor = in.tensor;
    r.draft_bytes = static_cast<double>(model::weight_bytes(*in.draft, in.draft->formats, shard).total());
  }
  r.kv = layout_of(in, r.settings);
  r.capacity = memory::capacity(in.stack.memory, capacity_input(in, r));
  const memory::Capacity& c = r.capacity;
  r.kv_tokens = c.blocks / r.kv.groups() * logged_block_size(r.kv);
  count_requests(in, r);
  r.fits = c.enough && r.seats > 0;
  r.reason = reason_of(r);
  return r;
}

}  // namespace servecast::scenario
