#include "calibrate/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace servecast::calibrate {

namespace {

using cost::kernels::DataType;
using cost::kernels::Family;

struct Columns {
  Schema schema;
  std::initializer_list<std::string_view> names;
};

bool all(const OperatorTable& t, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&t](std::string_view n) { return t.has(n); });
}

bool positive(std::initializer_list<double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
}

// Whole numbers up to `most`, whatever they count.
bool sizes(std::initializer_list<double> values, double least = 1) {
  constexpr double most = 1e9;
  return std::all_of(values.begin(), values.end(),
                     [least](double v) { return v >= least && v <= most && v == std::floor(v); });
}

bool data_type(std::string_view text, DataType& out) {
  const auto& names = cost::kernels::data_type_names;
  const auto at = std::find(std::begin(names), std::end(names), text);
  if (at == std::end(names)) return false;
  out = static_cast<DataType>(at - std::begin(names));
  return true;
}

// One number for a tuple of whole numbers, which need only be told apart: a mixed hash of 53 bits, exact in a double.
double group(std::initializer_list<double> values) {
  std::uint64_t hash = 0;
  for (const double v : values) {
    hash = (hash + static_cast<std::uint64_t>(v) + 1) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 32;
  }
  return static_cast<double>(hash >> 11);
}

constexpr std::string_view bad_shape = "a size is missing or no whole number from 1 to 1e9";
constexpr std::string_view bad_ranks = "num_gpus is no whole number from 2 to 1024";
constexpr std::string_view bad_elements = "a message of more than 1e12 elements";
constexpr double most_ranks = 1024;  // as profiles are read
constexpr double most_elements = 1e12;
constexpr std::string_view bad_time = "no positive time";
constexpr std::string_view bad_type = "unknown data type";

}  // namespace

std::optional<Schema> schema_of(const OperatorTable& t) {
  const Columns known[] = {
      {Schema::Gemm, {"gemm_dtype", "m", "n", "k", "latency_us"}},
      {Schema::Attention,
       {"attn_dtype", "kv_cache_dtype", "num_heads", "num_key_value_heads", "head_dim", "batch_size", "isl", "step",
        "latency_us"}},
      {Schema::Mla, {"mla_dtype", "kv_cache_dtype", "num_heads", "batch_size", "isl", "step", "latency_us"}},
      {Schema::MlaBmm, {"bmm_dtype", "num_tokens", "num_heads", "op_name", "latency_us"}},
      {Schema::Moe,
       {"kernel_source", "moe_dtype", "num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size",
        "moe_ep_size", "distribution", "latency_us"}},
      {Schema::Scale, {"m", "k", "quant_dtype", "latency_us"}},
      {Schema::AllReduce, {"allreduce_dtype", "num_gpus", "message_size", "latency_us"}},
      {Schema::Nccl, {"op_name", "nccl_dtype", "num_gpus", "message_size", "latency_us"}},
      {Schema::ExchangeLl,
       {"hidden_size", "num_token", "num_topk", "num_experts", "dispatch_avg_t_us", "combine_avg_t_us"}},
      {Schema::ExchangeNormal,
       {"hidden_size", "num_token", "num_topk", "num_experts", "dispatch_sms", "dispatch_transmit_us", "combine_sms",
        "combine_transmit_us"}},
      {Schema::Machine, {"quantity", "detail", "bytes", "unit", "value"}}};
  for (const Columns& c : known)
    if (all(t, c.names)) return c.schema;
  return std::nullopt;
}

RowReader::RowReader(Schema schema, std::string table) : schema_(schema), table_(std::move(table)) {}

std::string RowReader::read(OperatorTable& t, std::vector<Measured>& out) {
  if (!t.whole()) return "another number of fields than the header";
  switch (schema_) {
    case Schema::Gemm: return gemm(t, out);
    case Schema::Attention: return attention(t, out);
    case Schema::Mla: return mla(t, out);
    case Schema::MlaBmm: return mla_bmm(t, out);
    case Schema::Moe: return moe(t, out);
    case Schema::Scale: return scale(t, out);
    case Schema::ExchangeLl: return exchange(t, out, true);
    case Schema::ExchangeNormal: return exchange(t, out, false);
    case Schema::AllReduce:
    case Schema::Nccl:
    case Schema::Machine: break;
  }
  return "a curve";
}

std::string RowReader::gemm(OperatorTable& t, std::vector<Measured>& out) {
  t.text("kernel_source");
  Measured one;
  one.key.family = Family::Gemm;
  const double m = t.number("m"), n = t.number("n"), k = t.number("k");
  one.row.us = t.number("latency_us");
  if (!data_type(t.text("gemm_dtype"), one.key.type)) return std::string(bad_type);
  if (!sizes({m, n, k})) return std::string(bad_shape);
  one.row.x = {m, n, k};
  one.row.group = group({n, k});
  out.push_back(std::move(one));
  return "";
}

std::string RowReader::attention(OperatorTable& t, std::vector<Measured>& out) {
  t.text("kernel_source");
  Measured one;
  DataType type{}, kv{};
  if (!data_type(t.text("attn_dtype"), type) || !data_type(t.text("kv_cache_dtype"), kv)) return std::string(bad_type);
  const double batch = t.number("batch_size"), isl = t.number("isl"), step = t.number("step");
  const double heads = t.number("num_heads"), kv_heads = t.number("num_key_value_heads"), dim = t.number("head_dim");
  const double window = t.has("window_size") ? t.number("window_size") : 0;
  one.row.us = t.number("latency_us");
  if (!sizes({batch, isl, heads, kv_heads, dim}) || !sizes({step, window}, 0)) return std::string(bad_shape);
  if (kv_heads > heads) return "more kv heads than heads";
  if (step > 0 && isl > 1) return "a prefix before several tokens, which no model is fitted to";
  one.row.group = group({heads, kv_heads, dim});
  one.key.kv = kv;
  if (step > 0) {
    const double ratio = heads / kv_heads;
    one.key.family = Family::Decode;
    one.key.variant = fmt::format("{}{}",
                                  ratio == 1    ? "mha"
                                  : ratio <= 32 ? "gqa"
                                                : "wide",
                                  window > 0 ? "-windowed" : "");
    one.row.x = {batch, heads, kv_heads, dim, step + 1, window};
  } else {
    one.key.family = Family::Prefill;
    one.key.type = type;
    one.row.x = {batch, isl, heads, kv_heads, dim, window, 0};
  }
  out.push_back(std::move(one));
  return "";
}

std::string RowReader::mla(OperatorTable& t, std::vector<Measured>& out) {
  t.text("kernel_source");
  t.text("tp_size");  // says nothing the number of heads does not
  Measured one;
  const bool module = t.has("gemm_type");
  one.key.variant = module ? "module" : "kernel";
  DataType core{};
  if (!data_type(t.text("mla_dtype"), core) || !data_type(t.text("kv_cache_dtype"), one.key.kv))
    return std::string(bad_type);
  if (module && !data_type(t.text("gemm_type"), one.key.type)) return std::string(bad_type);
  if (core != DataType::Bf16) one.key.kernel = std::string(t.text("mla_dtype"));
  const double batch = t.number("batch_size"), isl = t.number("isl"), step = t.number("step"),
               heads = t.number("num_heads");
  one.row.us = t.number("latency_us");
  if (!sizes({batch, isl, heads}) || !sizes({step}, 0)) return std::string(bad_shape);
  one.key.family = step > 0 ? Family::MlaDecode : Family::MlaPrefill;
  if (step > 0 && isl > 1) return "a prefix before several tokens, which no model is fitted to";
  one.row.x = {batch, step > 0 ? step + 1 : isl, heads};
  one.row.group = heads;
  out.push_back(std::move(one));
  return "";
}

std::string RowReader::mla_bmm(OperatorTable& t, std::vector<Measured>& out) {
  t.text("kernel_source");
  Measured one;
  one.key.family = Family::MlaBmm;
  const std::string_view op = t.text("op_name");
  if (op != "mla_gen_pre" && op != "mla_gen_post") return fmt::format("operation {} is not known", op);
  one.key.variant = op == "mla_gen_pre" ? "before" : "after";
  if (!data_type(t.text("bmm_dtype"), one.key.type)) return std::string(bad_type);
  const double tokens = t.number("num_tokens"), heads = t.number("num_heads");
  one.row.us = t.number("latency_us");
  if (!sizes({tokens, heads})) return std::string(bad_shape);
  one.row.x = {tokens, heads};
  one.row.group = heads;
  out.push_back(std::move(one));
  return "";
}

const cost::kernels::ExpertLoad& RowReader::load(double tokens, double experts, double top_k, double ep, double alpha) {
  const auto [at, fresh] = loads_.try_emplace({tokens, experts, top_k, ep, alpha});
  if (fresh) at->second = cost::kernels::expert_load(tokens, experts, top_k, ep, alpha);
  return at->second;
}

std::string RowReader::moe(OperatorTable& t, std::vector<Measured>& out) {
  Measured one;
  one.key.family = Family::Moe;
  one.key.kernel = std::string(t.text("kernel_source"));
  if (!data_type(t.text("moe_dtype"), one.key.type)) return std::string(bad_type);
  const double tokens = t.number("num_tokens"), hidden = t.number("hidden_size"), inter = t.number("inter_size");
  const double top_k = t.number("topk"), experts = t.number("num_experts");
  const double tp = t.number("moe_tp_size"), ep = t.number("moe_ep_size");
  one.row.us = t.number("latency_us");
  if (!sizes({tokens, hidden, inter, top_k, experts, tp, ep}) || top_k > experts || std::fmod(experts, ep) != 0)
    return std::string(bad_shape);
  const std::string_view distribution = t.text("distribution");
  double alpha = 0;
  constexpr std::string_view law = "power_law_";
  if (distribution.starts_with(law)) {
    const char* const end = distribution.data() + distribution.size();
    if (std::from_chars(distribution.data() + law.size(), end, alpha).ptr != end || alpha <= 0 || alpha == 1)
      return fmt::format("distribution {} is not known", distribution);
  } else if (distribution != "balanced") {
    return fmt::format("distribution {} is not known", distribution);
  }
  one.key.variant =
      fmt::format("{}{}", alpha > 0 ? "skewed" : "balanced", one.key.kernel.ends_with("_nongated") ? "-nongated" : "");
  const auto& l = load(tokens, experts, top_k, ep, alpha);
  one.row.x = {tokens, hidden, inter / tp, experts / ep, top_k, ep, l.rows, l.active, l.rows_by_16, l.rows_by_64};
  one.row.group = group({hidden, inter, top_k, experts});
  one.row.curve = group({hidden, inter, top_k, experts, tp, ep, std::round(alpha * 100)});
  one.curve = {hidden, inter, top_k, experts, tp, ep, alpha};
  out.push_back(std::move(one));
  return "";
}

std::string RowReader::scale(OperatorTable& t, std::vector<Measured>& out) {
  t.text("kernel_source");
  Measured one;
  one.key.family = Family::Quantise;
  if (table_.find("computescale") != std::string::npos)
    one.key.variant = "compute_scale";
  else if (table_.find("scale_matrix") != std::string::npos)
    one.key.variant = "scale";
  else
    return "the file's name must say scale_matrix or computescale";
  if (!data_type(t.text("quant_dtype"), one.key.type)) return std::string(bad_type);
  const double m = t.number("m"), k = t.number("k");
  one.row.us = t.number("latency_us");
  if (!sizes({m, k})) return std::string(bad_shape);
  one.row.x = {m, k};
  one.row.group = k;
  out.push_back(std::move(one));
  return "";
}

std::string RowReader::exchange(OperatorTable& t, std::vector<Measured>& out, bool low_latency) {
  for (const std::string_view known : {"kernel_source", "combine_bandwidth_gbps", "dispatch_bandwidth_gbps",
                                       "dispatch_notify_us", "combine_notify_us"})
    t.text(known);
  const double nodes = t.has("node_num") ? t.number("node_num") : 1;
  if (nodes != 1) return "more than one node";
  const double tokens = t.number("num_token"), hidden = t.number("hidden_size");
  const double top_k = t.number("num_topk"), experts = t.number("num_experts");
  if (!sizes({tokens, hidden, top_k, experts})) return std::string(bad_shape);
  for (const bool dispatch : {true, false}) {
    Measured one;
    one.key.family = low_latency ? (dispatch ? Family::DispatchLowLatency : Family::CombineLowLatency)
                                 : (dispatch ? Family::DispatchNormal : Family::CombineNormal);
    const double sms = low_latency ? 24 : t.number(dispatch ? "dispatch_sms" : "combine_sms");
    if (!sizes({sms})) return std::string(bad_shape);
    one.row.us = low_latency ? t.number(dispatch ? "dispatch_avg_t_us" : "combine_avg_t_us")
                             : t.number(dispatch ? "dispatch_transmit_us" : "combine_transmit_us");
    one.row.x = {tokens, hidden, top_k, experts, sms};
    one.row.group = hidden;
    out.push_back(std::move(one));
  }
  return "";
}

std::string read_curve_point(Schema schema, OperatorTable& t, CurvePoint& out) {
  if (!t.whole()) return "another number of fields than the header";
  const std::string_view source = t.text("kernel_source");
  t.text("backend"), t.text("implementation");
  const std::string_view type = t.text(schema == Schema::Nccl ? "nccl_dtype" : "allreduce_dtype");
  out.op = schema == Schema::Nccl ? std::string(t.text("op_name")) : "all_reduce";
  out.mode = schema == Schema::Nccl ? "nccl" : source.ends_with("eager") ? "eager" : "graph";
  if (type == "int8") return "int8 message: the 16-bit curve serves all";
  if (type != "half" && type != "bfloat16") return std::string(bad_type);
  const double ranks = t.number("num_gpus"), elements = t.number("message_size");
  out.us = t.number("latency_us");
  if (!positive({ranks, elements})) return std::string(bad_shape);
  if (ranks < 2 || ranks > most_ranks || ranks != std::floor(ranks)) return std::string(bad_ranks);
  if (elements > most_elements) return std::string(bad_elements);
  if (!positive({out.us})) return std::string(bad_time);
  out.ranks = static_cast<std::int32_t>(ranks);
  out.bytes = elements * 2;
  return "";
}

std::string read_machine(OperatorTable& t, MachineRow& out) {
  if (!t.whole()) return "another number of fields than the header";
  t.text("kernel_source");
  out.quantity = std::string(t.text("quantity"));
  out.unit = std::string(t.text("unit"));
  out.detail = t.number("detail"), out.bytes = t.number("bytes"), out.value = t.number("value");
  if (out.quantity.empty() || !(out.bytes >= 0) || !(out.detail >= 0)) return std::string(bad_shape);
  return std::isfinite(out.value) ? "" : "no value";
}

}  // namespace servecast::calibrate
