#include "cost/parallel.hpp"

#include "config/fields.hpp"
#include "model/blocks.hpp"

#include <fmt/format.h>

#include <vector>

namespace servecast::cost {
namespace {

void refuse(std::string_view kind, std::int32_t size, core::Problems& problems, const std::string& place) {
  if (size > 1) problems.add(place, "{} {} is not modelled yet; use 1", kind, size);
}

// Why a tensor size does not split the model, or nothing.
std::string why_not(const model::Architecture& a, std::int32_t tensor) {
  const auto divides = [&](std::string_view what, std::int32_t width) {
    return width <= 0 || width % tensor == 0 ? "" : fmt::format("does not divide the {} {}", width, what);
  };
  const model::Blocks blocks = model::blocks_of(a);
  for (const model::AttentionBlocks& g : blocks.attention) {
    if (std::string heads = divides("attention heads", g.attention->heads); !heads.empty()) return heads;
    const std::int32_t kv = g.attention->kv_heads;
    if (g.attention->kind == model::AttentionKind::Gqa && kv > 0 && kv % tensor != 0 && tensor % kv != 0)
      return fmt::format("neither divides the {} KV heads nor is a multiple of them", kv);
  }
  if (a.state && blocks.state > 0) {
    if (std::string heads = divides("state heads", a.state->heads); !heads.empty()) return heads;
    const std::int32_t groups = a.state->groups;
    if (groups % tensor != 0 && tensor % groups != 0)
      return fmt::format("neither divides the {} groups of states nor is a multiple of them", groups);
  }
  for (const model::DenseBlocks& g : blocks.dense)
    if (std::string columns = divides("MLP columns", g.width); !columns.empty()) return columns;
  if (!a.moe) return "";
  if (std::string columns = divides("columns per expert", a.moe->intermediate); !columns.empty()) return columns;
  return divides("shared expert columns", a.moe->shared_intermediate);
}

}  // namespace

void describe(config::Fields& f, Parallel& p) {
  constexpr config::Range sizes = config::closed(1, 1024);
  f.field("tensor", p.tensor, sizes, "GPUs that share every layer");
  f.field("pipeline", p.pipeline, sizes, "groups of layers on different GPUs");
  f.field("data", p.data, sizes, "attention ranks with their own requests and KV cache");
  f.field("expert", p.expert, sizes, "groups of GPUs that hold different experts");
  f.field("decode_context", p.decode_context, sizes,
          "vLLM: tensor ranks over which the tokens of a sequence are interleaved in the KV cache, instead of each "
          "holding all of them (decode_context_parallel_size)");
}

void check_supported(const Parallel& p, core::Problems& problems, const std::string& place) {
  refuse("pipeline", p.pipeline, problems, place + "/pipeline");
  refuse("data", p.data, problems, place + "/data");
  refuse("expert", p.expert, problems, place + "/expert");
}

std::string tensor_sizes(const model::Architecture& a, std::int32_t most) {
  std::vector<std::int32_t> sizes;
  for (std::int32_t tensor = 1; tensor <= most; ++tensor)
    if (why_not(a, tensor).empty()) sizes.push_back(tensor);
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == sizes.size() ? " or " : ", ", sizes[i]);
  return text;
}

void check_parallel(const model::Architecture& a, std::int32_t tensor, std::int32_t most, core::Problems& problems,
                    const std::string& place) {
  if (tensor < 1) return problems.add(place, "tensor {} is below 1", tensor);
  const std::string why = why_not(a, tensor);
  if (!why.empty()) problems.add(place, "tensor {} {} of {}; use {}", tensor, why, a.name, tensor_sizes(a, most));
}

}  // namespace servecast::cost
