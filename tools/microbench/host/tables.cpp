#include "microbench/host/tables.hpp"

#include "core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>

namespace servecast::microbench {

namespace {

using Names = std::vector<std::string>;

struct Text {
  std::string_view name;
  std::string_view value;  // column of the measured value
  Names shape;
};

const Names attention = {"batch_size", "isl",        "num_heads",      "num_key_value_heads",
                         "head_dim",   "attn_dtype", "kv_cache_dtype", "step"};

Text text(TableId t) {
  switch (t) {
    case TableId::Machine: return {"machine", "value", {"quantity", "detail", "bytes", "unit"}};
    case TableId::Gemm: return {"gemm_perf", "latency_us", {"gemm_dtype", "m", "n", "k"}};
    case TableId::Generation: return {"generation_attention_perf", "latency_us", attention};
    case TableId::Context: return {"context_attention_perf", "latency_us", attention};
    case TableId::Verify: return {"verify_attention_perf", "latency_us", attention};
    case TableId::ComputeScale: return {"computescale_perf", "latency_us", {"m", "k", "quant_dtype"}};
    case TableId::ScaleMatrix: return {"scale_matrix_perf", "latency_us", {"m", "k", "quant_dtype"}};
    case TableId::Moe:
      return {"moe_perf",
              "latency_us",
              {"moe_dtype", "num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size",
               "moe_ep_size", "distribution"}};
    case TableId::Nccl: return {"nccl_perf", "latency_us", {"op_name", "nccl_dtype", "num_gpus", "message_size"}};
    case TableId::AllReduce:
      return {"custom_allreduce_perf", "latency_us", {"allreduce_dtype", "num_gpus", "message_size"}};
  }
  return {};
}

TableId table(const Gemm&) { return TableId::Gemm; }
TableId table(const Attention& a) {
  return a.cached == 0 ? TableId::Context : a.queries == 1 ? TableId::Generation : TableId::Verify;
}
TableId table(const Quantise& q) { return q.scale_search ? TableId::ComputeScale : TableId::ScaleMatrix; }
TableId table(const Experts&) { return TableId::Moe; }
TableId table(const Collective& c) {
  return c.op == CollectiveOp::AllReduce && c.graph ? TableId::AllReduce : TableId::Nccl;
}
TableId table(const Machine&) { return TableId::Machine; }

std::string fields(const Gemm& g) { return fmt::format("{},{},{},{}", name_of(g.format), g.m, g.n, g.k); }
std::string fields(const Attention& a) {
  return fmt::format("{},{},{},{},{},bfloat16,{},{}", a.batch, a.queries, a.heads, a.kv_heads, a.head_dim,
                     name_of(a.kv), a.cached);
}
std::string fields(const Quantise& q) { return fmt::format("{},{},{}", q.rows, q.width, name_of(q.to)); }
std::string fields(const Experts& e) {
  const std::string law = e.alpha == 0 ? "balanced" : fmt::format("power_law_{}", e.alpha);
  return fmt::format("bfloat16,{},{},{},{},{},1,{},{}", e.tokens, e.hidden, e.inter, e.top_k, e.experts, e.ep, law);
}
std::string fields(const Collective& c) {
  const std::string sizes = fmt::format("bfloat16,{},{}", c.gpus, c.elements);
  if (table(c) == TableId::AllReduce) return sizes;
  return (c.op == CollectiveOp::AllReduce ? "all_reduce," : "alltoall,") + sizes;
}
std::string fields(const Machine& m) {
  return fmt::format("{},{},{},{}", info(m.quantity).name, m.detail, m.bytes, info(m.quantity).unit);
}

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : ""; }

}  // namespace

TableId table_of(const Point& point) {
  return std::visit([](const auto& p) { return table(p); }, point);
}

std::vector<std::string> columns(TableId t) {
  const Text tx = text(t);
  Names out = {"kernel_source"};
  out.insert(out.end(), tx.shape.begin(), tx.shape.end());
  out.emplace_back(tx.value);
  for (const std::string_view name : provenance) out.emplace_back(name);
  return out;
}

std::string file_name(TableId t, const std::string& gpu, const std::string& stack, const std::string& nccl) {
  return fmt::format("{}__{}__{}.csv", gpu, t == TableId::Nccl ? "nccl-" + nccl : stack, text(t).name);
}

std::string key(const Point& point) {
  return std::visit([](const auto& p) { return fields(p); }, point);
}

std::string row(const Point& point, const Outcome& o, const DeviceInfo& d, bool cold) {
  SERVECAST_ENSURE(!o.samples.empty(), "no samples for {}", key(point));
  const Summary s = summarise(o.samples);
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", o.kernel_source, key(point), number(s.median),
                     o.samples.size(), number(s.spread), d.name, d.driver, cold ? "cold" : "warm",
                     number(o.clocks.sm_mhz), number(o.clocks.memory_mhz), number(o.clocks.power_w));
}

std::string gpu_name(std::string_view device) {
  struct Known {
    std::string_view part, name;
  };
  // Longer parts first: "GB200" contains "B200".
  constexpr Known known[] = {{"GB200", "gb200"},
                             {"B300", "b300"},
                             {"B200", "b200"},
                             {"H200", "h200"},
                             {"H100", "h100"},
                             {"H20", "h20"},
                             {"A100-SXM4-80", "a100-80gb"},
                             {"A100 80GB", "a100-80gb"},
                             {"A100", "a100-40gb"},
                             {"RTX PRO 6000", "rtx-pro-6000"},
                             {"RTX 5080", "rtx-5080"},
                             {"RTX 3090", "rtx-3090"},
                             {"RTX A6000", "a6000"},
                             {"L40S", "l40s"},
                             {"L4", "l4"},
                             {"T4", "t4"}};
  for (const Known& k : known)
    if (device.find(k.part) != std::string_view::npos) return std::string(k.name);
  std::string out;
  for (const char c : device) {
    const auto u = static_cast<unsigned char>(c);
    out += std::isalnum(u) != 0 ? static_cast<char>(std::tolower(u)) : '-';
  }
  return out;
}

}  // namespace servecast::microbench
