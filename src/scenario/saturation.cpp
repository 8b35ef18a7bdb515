#include "scenario/saturation.hpp"

#include "memory/buddy_allocator.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::scenario {

namespace {

std::int32_t whole(double tokens) { return std::max<std::int32_t>(1, static_cast<std::int32_t>(std::lround(tokens))); }

// A power of two above a length is on average this many times the length, where lengths are spread smoothly over
// octaves: the integral of 2 / x over [1, 2] in log x. Derived.
constexpr double power_of_two_excess = 1.4427;

// Slots of its prompt that a sequence leaves to the others of its request, on average.
double left_to_others(const engine::Config& c, const MeanRequest& m) {
  const double sequences = c.enable_prefix_caching ? std::max(c.samples, c.branching.sequences) : c.branching.sequences;
  return (m.cached_tokens + m.prompt_tokens) * (1 - 1 / sequences);
}

// Slots that a sequence takes, on average.
double mean_slots(const engine::Config& c, const MeanRequest& m, double context) {
  using engine::KvAllocation;
  if (c.kv_allocation == KvAllocation::Paged) return context - left_to_others(c, m) + c.block_size / 2.0;
  const auto longest = static_cast<double>(memory::BuddyAllocator::rounded(c.max_model_len));
  if (c.kv_allocation == KvAllocation::ContiguousMax) return longest;
  const double room =
      c.kv_allocation == KvAllocation::ContiguousPow2 ? power_of_two_excess * m.output_tokens : m.output_tokens;
  return std::min(longest, power_of_two_excess * (m.cached_tokens + m.prompt_tokens + room));
}

// Pages that a decoding request holds, on average, of groups that share a pool.
double mean_pages(const std::vector<engine::KvKind>& kinds, double context) {
  double pages = 0;
  for (const engine::KvKind& k : kinds) {
    const double reach = k.keeps == engine::KvKeeps::Window  ? k.window
                         : k.keeps == engine::KvKeeps::Chunk ? k.window / 2.0
                                                             : context;
    double held = std::min(context, reach) / k.block_size + 0.5;
    if (k.keeps == engine::KvKeeps::State) held = 1;
    if (k.keeps == engine::KvKeeps::Fixed) held = k.pages;
    pages += k.groups * held;
  }
  return pages;
}

// Decoding sequences of a saturated replica: as many as slots, blocks and the token budget allow. In balance a step
// that makes d output tokens prefills d / output prompts.
double decoders(const engine::Config& c, const MeanRequest& m, double context) {
  double by_blocks = static_cast<double>(c.blocks) /
                     (c.kinds.empty() ? mean_slots(c, m, context) / c.block_size : mean_pages(c.kinds, context));
  if (c.kv_allocation == engine::KvAllocation::ContiguousMax) by_blocks = std::floor(by_blocks);
  const double by_budget = c.max_num_batched_tokens / (1.0 + m.prompt_tokens / m.output_tokens);
  return std::max(1.0, std::min({static_cast<double>(c.max_num_seqs), by_blocks, by_budget}));
}

double step_s(const engine::Config& config, const cost::StepCost& cost, const MeanRequest& m, double decoding,
              double context, double prompts) {
  cost::StepShape shape;
  shape.decode_requests = std::min<std::int32_t>(whole(decoding), std::max(1, config.max_num_batched_tokens - 1));
  shape.decode_context = static_cast<std::int64_t>(shape.decode_requests) * whole(context);
  const std::int32_t window = cost.needs_window();
  shape.decode_context_windowed =
      window > 0 ? std::int64_t{shape.decode_requests} * std::min(whole(context), window) : 0;
  shape.sampled_rows = shape.decode_requests;
  if (prompts > 0) {
    const double wanted =
        std::min<double>(prompts * m.prompt_tokens, config.max_num_batched_tokens - shape.decode_requests);
    shape.prefill_tokens = whole(wanted);
    shape.prefill_requests = whole(prompts);
    const std::int32_t from = static_cast<std::int32_t>(std::lround(m.cached_tokens));
    const double attention = static_cast<double>(cost.chunk(from, from + whole(m.prompt_tokens)).ps);
    shape.prefill_attention.ps = std::llround(attention * shape.prefill_tokens / whole(m.prompt_tokens));
  }
  return core::to_seconds(cost.step(shape).total);
}

// A budget of one token holds a decoding sequence or a token of a prompt, never both: every token is a step of its own,
// and the last token of a prompt makes the first output token.
double one_token_steps_s(const engine::Config& config, const cost::StepCost& cost, const MeanRequest& m,
                         double context) {
  cost::StepShape prompt;
  prompt.prefill_tokens = prompt.prefill_requests = 1;
  const std::int32_t from = whole(m.cached_tokens + m.prompt_tokens / 2);
  prompt.prefill_attention = cost.chunk(from, from + 1);
  const double decode_s = step_s(config, cost, m, 1, context, 0);
  return m.prompt_tokens * core::to_seconds(cost.step(prompt).total) + (m.output_tokens - 1) * decode_s;
}

}  // namespace

double saturated_requests_per_s(const engine::Config& config, const cost::StepCost& cost, const MeanRequest& m) {
  if (m.prompt_tokens <= 0 || m.output_tokens <= 0) return 0;
  const double context =
      std::min<double>(config.max_model_len, m.cached_tokens + m.prompt_tokens + m.output_tokens / 2);
  if (config.max_num_batched_tokens < 2) {
    const double request_s = one_token_steps_s(config, cost, m, context);
    return request_s > 0 ? 1 / request_s : 0;
  }
  const double decoding = decoders(config, m, context);
  // A prompt makes its first token itself and takes as many steps as its chunks need.
  const double finishing = decoding / (m.output_tokens * config.branching.sequences);
  const double room = std::max(1.0, config.max_num_batched_tokens - decoding);
  const double chunks = std::max(1.0, m.prompt_tokens / room);
  const double mixed = std::min(1.0, finishing * chunks);
  const double mixed_s = step_s(config, cost, m, decoding, context, finishing / mixed);
  const double decode_s = mixed < 1 ? step_s(config, cost, m, decoding, context, 0) : 0;
  const double mean_s = mixed * mixed_s + (1 - mixed) * decode_s;
  return mean_s > 0 ? finishing / mean_s : 0;
}

}  // namespace servecast::scenario
