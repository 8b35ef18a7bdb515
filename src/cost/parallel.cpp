#include "cost/parallel.hpp"

#include "config/fields.hpp"

#include <numeric>

namespace servecast::cost {
namespace {

void refuse(std::string_view kind, std::int32_t size, core::Problems& problems, const std::string& place) {
  if (size > 1) problems.add(place, "{} {} is not modelled yet; use 1", kind, size);
}

void must_divide(const model::Architecture& a, std::string_view what, std::int32_t width, std::int32_t tensor,
                 core::Problems& problems, const std::string& place) {
  if (width <= 0 || width % tensor == 0) return;
  problems.add(place, "tensor {} does not divide the {} {} of {}; use {}", tensor, width, what, a.name,
               std::gcd(width, tensor));
}

}  // namespace

void describe(config::Fields& f, Parallel& p) {
  constexpr config::Range sizes = config::closed(1, 1024);
  f.field("tensor", p.tensor, sizes, "GPUs that share every layer");
  f.field("pipeline", p.pipeline, sizes, "groups of layers on different GPUs");
  f.field("data", p.data, sizes, "attention ranks with their own requests and KV cache");
  f.field("expert", p.expert, sizes, "groups of GPUs that hold different experts");
}

void check_supported(const Parallel& p, core::Problems& problems, const std::string& place) {
  refuse("pipeline", p.pipeline, problems, place + "/pipeline");
  refuse("data", p.data, problems, place + "/data");
  refuse("expert", p.expert, problems, place + "/expert");
}

void check_parallel(const model::Architecture& a, std::int32_t tensor, core::Problems& problems,
                    const std::string& place) {
  if (tensor < 1) {
    problems.add(place, "tensor {} is below 1", tensor);
    return;
  }
  must_divide(a, "attention heads", a.attention.heads, tensor, problems, place);
  const std::int32_t kv = a.attention.kv_heads;
  if (a.attention.kind == model::AttentionKind::Gqa && kv > 0 && kv % tensor != 0 && tensor % kv != 0) {
    problems.add(place, "tensor {} neither divides the {} KV heads of {} nor is a multiple of them; use {}", tensor, kv,
                 a.name, std::gcd(kv, tensor));
  }
  if (a.dense_layers > 0) must_divide(a, "MLP columns", a.intermediate, tensor, problems, place);
  if (a.moe) {
    must_divide(a, "columns per expert", a.moe->intermediate, tensor, problems, place);
    must_divide(a, "shared expert columns", a.moe->shared_intermediate, tensor, problems, place);
  }
}

}  // namespace servecast::cost
