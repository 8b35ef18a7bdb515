#include "cost/attention.hpp"

#include <algorithm>

namespace servecast::cost {
namespace {

using precision::Format;

constexpr double tera = 1e12;
constexpr double act = 2.0;        // BF16 queries and outputs
constexpr double tile_rows = 128;  // queries per tile of prefill attention kernels
// Specified (SPEC 1.2): the sparse MLA layout of FP8 caches, and the indexer's key: FP8 elements and one FP32 scale.
constexpr double sparse_fp8_bytes = 656;
constexpr double indexer_scale_bytes = 4;

struct Core {
  double query_flops_per_key = 0;  // all local heads
  double key_bytes = 0;            // read per key
  double io_bytes = 0;             // per query
  double heads = 0;                // local, for tiles
};

struct Speeds {
  double decode_flops = 0;
  double prefill_flops = 0;
  double gather = 0;
  double tile_s = 0;  // per query tile and head
};

Speeds speeds(const OperatorInput& in) {
  const Efficiency& e = in.efficiency;
  const double peak = in.gpu.dense.bf16 * tera;
  return {peak * e.decode_attention, peak * e.prefill_attention, in.gpu.memory_tb_s * tera * e.kv_gather,
          e.prefill_tile_us * 1e-6 / in.gpu.sm_count};
}

DecodeClass decode_class(const Core& c, double layers, const Speeds& v) {
  return {layers * c.query_flops_per_key, layers * c.key_bytes, layers * c.io_bytes, v.decode_flops, v.gather};
}

ChunkForm chunk_form(const Core& c, double layers, const Speeds& v) {
  ChunkForm f;
  f.flops.per_pair = layers * c.query_flops_per_key;
  f.bytes.per_query = layers * c.io_bytes;
  f.bytes.per_key = layers * c.key_bytes;
  f.compute.per_pair = f.flops.per_pair / v.prefill_flops;
  f.compute.per_query = layers * c.heads * v.tile_s / tile_rows;
  f.memory.per_query = f.bytes.per_query / v.gather;
  f.memory.per_key = f.bytes.per_key / v.gather;
  return f;
}

Core gqa_core(const OperatorInput& in) {
  const model::Attention& t = in.architecture.attention;
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double kv = std::max(1.0, static_cast<double>(t.kv_heads) / in.tensor);
  const double element = precision::bytes_per_element(in.precision.kv_cache);
  return {4.0 * heads * t.head_dim, 2.0 * kv * t.head_dim * element, 2.0 * heads * t.head_dim * act, heads};
}

// Attention in the latent space: every head works on the one cached vector, which ranks do not share out.
Core mla_absorbed(const OperatorInput& in) {
  const model::Attention& t = in.architecture.attention;
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double latent = t.kv_lora_rank + t.qk_rope_dim;
  const bool sparse_fp8 = t.indexer_top_k > 0 && in.precision.kv_cache == Format::Fp8;
  const double key = sparse_fp8 ? sparse_fp8_bytes : latent * precision::bytes_per_element(in.precision.kv_cache);
  return {2.0 * heads * (latent + t.kv_lora_rank), key, heads * (latent + t.kv_lora_rank) * act, heads};
}

Core indexer_core(const OperatorInput& in) {
  const model::Attention& t = in.architecture.attention;
  const double wide = t.indexer_heads * static_cast<double>(t.indexer_dim);
  return {2.0 * wide, t.indexer_dim + indexer_scale_bytes, wide, 0};
}

// Per head and latent: query into the latent space, output out of it.
double absorb_width(const model::Attention& t, double heads) {
  return heads * t.kv_lora_rank * (t.qk_nope_dim + t.v_dim);
}

ChunkForm absorbed_form(const OperatorInput& in, double layers, const Speeds& v) {
  ChunkForm f = chunk_form(mla_absorbed(in), layers, v);
  const double heads = static_cast<double>(in.architecture.attention.heads) / in.tensor;
  const double flops = 2.0 * absorb_width(in.architecture.attention, heads) * layers;
  f.flops.per_query += flops;
  f.compute.per_query += flops / v.prefill_flops;
  return f;
}

// Keys and values of the whole visible context are rebuilt per chunk, written and read once.
ChunkForm expanded_form(const OperatorInput& in, double layers, const Speeds& v) {
  const model::Attention& t = in.architecture.attention;
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double expanded = heads * (t.qk_nope_dim + t.qk_rope_dim + t.v_dim);
  Core c = mla_absorbed(in);
  c.query_flops_per_key = 2.0 * expanded;
  c.key_bytes += 2.0 * expanded * act;
  c.io_bytes = expanded * act;
  ChunkForm f = chunk_form(c, layers, v);
  const double flops = 2.0 * absorb_width(t, heads) * layers;
  f.flops.per_key = flops;
  f.compute.per_key = flops / v.prefill_flops;
  return f;
}

Operator absorb_operator(const OperatorInput& in, double layers) {
  const model::Attention& t = in.architecture.attention;
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double width = absorb_width(t, heads);
  const MatrixMath m = matrix_math(Format::BFloat16, Format::BFloat16, in.gpu, in.efficiency);
  const double io = heads * (t.qk_nope_dim + 2.0 * t.kv_lora_rank + t.v_dim) * act;
  return {"latent absorption", Kind::Gemm, layers, 2.0 * width, width * m.weight_bytes, io, 0, 0, m, 0, 0,
          Format::BFloat16};
}

AttentionModel gqa_model(const OperatorInput& in) {
  const model::Architecture& a = in.architecture;
  const double windowed = a.attention.window > 0 ? a.attention.windowed_layers : 0;
  const double full = a.layers - windowed;
  const Core core = gqa_core(in);
  const Speeds v = speeds(in);
  AttentionModel m;
  m.kernels = a.layers;
  if (full > 0) {
    m.decode[0] = decode_class(core, full, v);
    m.prefill[0].forms = {chunk_form(core, full, v)};
  }
  if (windowed > 0) {
    m.window = a.attention.window;
    m.decode[1] = decode_class(core, windowed, v);
    m.prefill[1] = {
        a.attention.window_is_chunk ? Window::Chunked : Window::Sliding, m.window, {chunk_form(core, windowed, v)}};
  }
  return m;
}

AttentionModel mla_model(const OperatorInput& in) {
  const double layers = in.architecture.layers;
  const Speeds v = speeds(in);
  AttentionModel m;
  m.kernels = layers;
  m.absorb = absorb_operator(in, layers);
  const std::int32_t top_k = in.architecture.attention.indexer_top_k;
  if (top_k > 0) {
    m.window = top_k;
    m.kernels = 2.0 * layers;
    m.decode = {decode_class(indexer_core(in), layers, v), decode_class(mla_absorbed(in), layers, v)};
    m.prefill[0].forms = {chunk_form(indexer_core(in), layers, v)};
    m.prefill[1] = {Window::Sliding, top_k, {absorbed_form(in, layers, v)}};
    return m;
  }
  m.decode[0] = decode_class(mla_absorbed(in), layers, v);
  m.prefill[0].forms = {expanded_form(in, layers, v), absorbed_form(in, layers, v)};
  return m;
}

}  // namespace

Rooflines DecodeClass::at(double decoders, double context) const {
  Rooflines r;
  if (empty()) return r;
  r.flops = flops_per_context * context;
  r.bytes = bytes_per_context * context + bytes_per_decoder * decoders;
  r.compute_s = r.flops / flops_per_s;
  r.memory_s = r.bytes / bytes_per_s;
  return r;
}

AttentionModel attention_model(const OperatorInput& in) {
  return in.architecture.attention.kind == model::AttentionKind::Gqa ? gqa_model(in) : mla_model(in);
}

}  // namespace servecast::cost
