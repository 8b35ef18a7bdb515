#include "scenario/remedy.hpp"

#include "core/units.hpp"
#include "model/footprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace servecast::scenario {
namespace {

using precision::Format;

// Engines keep some memory for allocations that profiling does not see; above this share they fail later instead.
constexpr int highest_percent = 95;
constexpr std::int32_t fewest_seqs = 64;
constexpr std::int32_t fewest_tokens = 1024;
constexpr std::int32_t shortest_len = 1024;

// One deployment on the way from the user's to one that fits.
struct Candidate {
  FitInput input;
  std::vector<Edit> edits;
};

std::optional<Remedy> tried(const Candidate& c) {
  if (fit_problem(c.input)) return std::nullopt;
  FitReport report = fit(c.input);
  if (!report.fits) return std::nullopt;
  return Remedy{c.edits, std::move(report)};
}

void edit(Candidate& c, std::string_view key, std::string from, std::string to) {
  c.edits.push_back({c.input.pointer + std::string(key), std::move(from), std::move(to)});
}

Candidate with_utilization(Candidate c, const engine::Settings& now, int percent) {
  c.input.settings.gpu_memory_utilization = percent / 100.0;
  edit(c, "/engine/gpu_memory_utilization", fmt::format("{:.2f}", *now.gpu_memory_utilization),
       fmt::format("{:.2f}", percent / 100.0));
  return c;
}

Candidate with_seqs(Candidate c, const engine::Settings& now, std::int32_t seqs) {
  c.input.settings.max_num_seqs = seqs;
  edit(c, "/engine/max_num_seqs", fmt::to_string(*now.max_num_seqs), fmt::to_string(seqs));
  return c;
}

Candidate with_tokens(Candidate c, const engine::Settings& now, std::int32_t tokens) {
  c.input.settings.max_num_batched_tokens = tokens;
  edit(c, "/engine/max_num_batched_tokens", fmt::to_string(*now.max_num_batched_tokens), fmt::to_string(tokens));
  return c;
}

// Where the user states the size of the cache: as much as is needed, or as little as there is room for.
std::optional<Remedy> by_blocks(const Candidate& start, const engine::Settings& now) {
  if (!now.num_gpu_blocks_override) return std::nullopt;
  const FitReport report = fit(start.input);
  const memory::Capacity& c = report.capacity;
  const std::int64_t missing = std::llround(c.shortfall / report.kv.block_bytes);
  const std::int64_t blocks = c.exceeds_memory ? c.most_blocks : c.blocks + missing;
  Candidate changed = start;
  changed.input.settings.num_gpu_blocks_override = blocks;
  edit(changed, "/engine/num_gpu_blocks_override", fmt::to_string(c.blocks), fmt::to_string(blocks));
  return tried(changed);
}

std::optional<Remedy> by_cache_size(const Candidate& start, const engine::Settings& now) {
  if (now.num_gpu_blocks_override || !now.kv_cache_memory_gib) return std::nullopt;
  const memory::Capacity c = fit(start.input).capacity;
  const double bytes = c.exceeds_memory ? c.most_kv_bytes : c.kv_bytes + c.shortfall;
  const double hundredths = bytes / core::GiB * 100;
  const double gib = (c.exceeds_memory ? std::floor(hundredths) : std::ceil(hundredths)) / 100;
  Candidate changed = start;
  changed.input.settings.kv_cache_memory_gib = gib;
  edit(changed, "/engine/kv_cache_memory_gib", fmt::format("{:g}", *now.kv_cache_memory_gib),
       fmt::format("{:.2f}", gib));
  return tried(changed);
}

std::optional<Remedy> by_utilization(const Candidate& start, const engine::Settings& now) {
  if (!now.gpu_memory_utilization) return std::nullopt;
  for (int percent = static_cast<int>(*now.gpu_memory_utilization * 100 + 1e-6) + 1; percent <= highest_percent;
       ++percent)
    if (auto r = tried(with_utilization(start, now, percent))) return r;
  return std::nullopt;
}

// Fewer concurrent requests, then a smaller token budget, then both.
std::optional<Remedy> by_limits(const Candidate& start, const engine::Settings& now) {
  for (std::int32_t seqs = *now.max_num_seqs / 2; seqs >= fewest_seqs; seqs /= 2)
    if (auto r = tried(with_seqs(start, now, seqs))) return r;
  if (!*now.enable_chunked_prefill) return std::nullopt;  // the budget must hold a whole prompt
  const std::int32_t least = std::max(fewest_tokens, *now.max_num_seqs);
  for (std::int32_t tokens = *now.max_num_batched_tokens / 2; tokens >= least; tokens /= 2)
    if (auto r = tried(with_tokens(start, now, tokens))) return r;
  for (std::int32_t seqs = *now.max_num_seqs / 2; seqs >= fewest_seqs; seqs /= 2)
    for (std::int32_t tokens = *now.max_num_batched_tokens / 2; tokens >= std::max(fewest_tokens, seqs); tokens /= 2)
      if (auto r = tried(with_tokens(with_seqs(start, now, seqs), now, tokens))) return r;
  return std::nullopt;
}

std::optional<Remedy> by_both(const Candidate& start, const engine::Settings& now) {
  if (!now.gpu_memory_utilization || *now.gpu_memory_utilization * 100 >= highest_percent) return std::nullopt;
  return by_limits(with_utilization(start, now, highest_percent), now);
}

std::optional<Remedy> by_kv_format(const Candidate& start, const engine::Settings&) {
  if (start.input.kv_cache == Format::Fp8) return std::nullopt;
  Candidate c = start;
  c.input.kv_cache = Format::Fp8;
  edit(c, "/precision/kv_cache", std::string(precision::name(start.input.kv_cache)), "fp8");
  return tried(c);
}

// The longest request that the cache holds, in steps that people would choose.
std::optional<Remedy> by_length(const Candidate& start, const engine::Settings& now) {
  for (std::int32_t len = *now.max_model_len / 2; len >= shortest_len && len >= start.input.mean_request_tokens;
       len /= 2) {
    Candidate c = start;
    c.input.settings.max_model_len = len;
    edit(c, "/engine/max_model_len", fmt::to_string(*now.max_model_len), fmt::to_string(len));
    if (auto r = tried(c)) return r;
  }
  return std::nullopt;
}

std::optional<Remedy> by_tensor(const Candidate& start, const engine::Settings&) {
  const FitInput& in = start.input;
  for (std::int32_t tensor = in.tensor * 2; tensor <= in.domain; tensor *= 2) {
    Candidate c = start;
    c.input.tensor = tensor;
    edit(c, "/parallel/tensor", fmt::to_string(in.tensor / in.ranks_per_gpu),
         fmt::to_string(tensor / in.ranks_per_gpu));
    const std::int32_t room = in.domains * (in.domain / tensor);
    if (in.replicas > room) edit(c, "/replicas", fmt::to_string(in.replicas), fmt::to_string(room));
    if (auto r = tried(c)) return r;
  }
  return std::nullopt;
}

std::int64_t one_gpu_bytes(const model::Architecture& m, const model::TensorFormats& formats) {
  return model::weight_bytes(m, formats, model::Shard{}).total();
}

// FP8, then the 4-bit format that the GPU's kernels take; the whole node if one GPU is still too small.
std::optional<Remedy> by_weights(const Candidate& start, const engine::Settings& now) {
  if (start.input.weight_keys.empty()) return std::nullopt;  // a policy chooses formats
  const model::Architecture& m = start.input.architecture;
  const std::int64_t present = one_gpu_bytes(m, start.input.formats);
  const Format four_bit = start.input.gpu.dense.fp4 > 0 ? Format::Nvfp4 : Format::Int4Group128;
  for (const Format format : {Format::Fp8, four_bit}) {
    Candidate c = start;
    c.input.formats = model::quantised(start.input.formats, format);
    if (one_gpu_bytes(m, c.input.formats) >= present) continue;
    for (const std::string& key : c.input.weight_keys)
      edit(c, "/precision/" + key, "as given", std::string(precision::name(format)));
    if (auto r = tried(c)) return r;
    if (auto r = by_tensor(c, now)) return r;
  }
  return std::nullopt;
}

}  // namespace

std::string Remedy::text() const {
  std::string out;
  for (const Edit& e : edits)
    out += fmt::format("{}--set {}={} (now {})", out.empty() ? "" : " and ", e.key, e.to, e.from);
  return out;
}

std::optional<Remedy> smallest_change(const FitInput& input) {
  const engine::Settings now = settings_of(input);
  const Candidate start{input, {}};
  for (const auto& way :
       {by_blocks, by_cache_size, by_utilization, by_limits, by_both, by_kv_format, by_length, by_tensor, by_weights})
    if (auto r = way(start, now)) return r;
  return std::nullopt;
}

}  // namespace servecast::scenario
