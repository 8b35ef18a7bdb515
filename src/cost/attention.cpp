#include "cost/attention.hpp"

#include "core/error.hpp"
#include "cost/state_cost.hpp"
#include "model/blocks.hpp"

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
  return {layers * c.query_flops_per_key, layers * c.key_bytes, 0, layers * c.io_bytes, v.decode_flops, v.gather};
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

Core gqa_core(const OperatorInput& in, const model::Attention& t) {
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double kv = std::max(1.0, static_cast<double>(t.kv_heads) / in.tensor);
  const double element = precision::bytes_per_element(in.precision.kv_cache);
  const double both = static_cast<double>(t.head_dim) + model::value_width(t);
  return {2.0 * heads * both, kv * both * element, heads * both * act, heads};
}

// Attention in the latent space: every head works on the one cached vector, which ranks do not share out.
Core mla_absorbed(const OperatorInput& in, const model::Attention& t) {
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double latent = t.kv_lora_rank + t.qk_rope_dim;
  const bool sparse_fp8 = t.indexer_top_k > 0 && in.precision.kv_cache == Format::Fp8;
  const double key = sparse_fp8 ? sparse_fp8_bytes : latent * precision::bytes_per_element(in.precision.kv_cache);
  return {2.0 * heads * (latent + t.kv_lora_rank), key, heads * (latent + t.kv_lora_rank) * act, heads};
}

Core indexer_core(const model::Attention& t) {
  const double wide = t.indexer_heads * static_cast<double>(t.indexer_dim);
  return {2.0 * wide, t.indexer_dim + indexer_scale_bytes, wide, 0};
}

// Per head and latent: query into the latent space, output out of it.
double absorb_width(const model::Attention& t, double heads) {
  return heads * t.kv_lora_rank * (t.qk_nope_dim + t.v_dim);
}

ChunkForm absorbed_form(const OperatorInput& in, const model::Attention& t, double layers, const Speeds& v) {
  ChunkForm f = chunk_form(mla_absorbed(in, t), layers, v);
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double flops = 2.0 * absorb_width(t, heads) * layers;
  f.flops.per_query += flops;
  f.compute.per_query += flops / v.prefill_flops;
  return f;
}

// Keys and values of the whole visible context are rebuilt per chunk, written and read once.
ChunkForm expanded_form(const OperatorInput& in, const model::Attention& t, double layers, const Speeds& v) {
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double expanded = heads * (t.qk_nope_dim + t.qk_rope_dim + t.v_dim);
  Core c = mla_absorbed(in, t);
  c.query_flops_per_key = 2.0 * expanded;
  c.key_bytes += 2.0 * expanded * act;
  c.io_bytes = expanded * act;
  ChunkForm f = chunk_form(c, layers, v);
  const double flops = 2.0 * absorb_width(t, heads) * layers;
  f.flops.per_key = flops;
  f.compute.per_key = flops / v.prefill_flops;
  return f;
}

Operator absorb_operator(const OperatorInput& in, const model::Attention& t, double layers) {
  const double heads = static_cast<double>(t.heads) / in.tensor;
  const double width = absorb_width(t, heads);
  const MatrixMath m = matrix_math(Format::BFloat16, Format::BFloat16, in.gpu, in.efficiency);
  const double io = heads * (t.qk_nope_dim + 2.0 * t.kv_lora_rank + t.v_dim) * act;
  return {"latent absorption", Kind::Gemm, layers, 2.0 * width, width * m.weight_bytes, io, 0, 0, m, 0, 0,
          Format::BFloat16};
}

// Blocks of different kinds in one class add up: they run one after another at the same rates.
void add(DecodeClass& sum, const DecodeClass& c) {
  sum.flops_per_context += c.flops_per_context;
  sum.bytes_per_context += c.bytes_per_context;
  sum.flops_per_decoder += c.flops_per_decoder;
  sum.bytes_per_decoder += c.bytes_per_decoder;
  sum.flops_per_s = c.flops_per_s;
  sum.bytes_per_s = c.bytes_per_s;
}

void add(ChunkLine& sum, const ChunkLine& l) {
  sum.per_pair += l.per_pair;
  sum.per_query += l.per_query;
  sum.per_key += l.per_key;
  sum.per_chunk += l.per_chunk;
}

void add(ChunkClass& sum, const std::vector<ChunkForm>& forms) {
  if (sum.forms.empty()) sum.forms.resize(forms.size());
  SERVECAST_ENSURE(sum.forms.size() == forms.size(), "{} and {} forms of attention in one class", sum.forms.size(),
                   forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    add(sum.forms[i].compute, forms[i].compute);
    add(sum.forms[i].memory, forms[i].memory);
    add(sum.forms[i].flops, forms[i].flops);
    add(sum.forms[i].bytes, forms[i].bytes);
  }
}

void add_gqa(AttentionModel& m, const OperatorInput& in, const model::AttentionBlocks& g) {
  const model::Attention& t = *g.attention;
  const double windowed = g.windowed;
  const double full = g.count - windowed;
  const Core core = gqa_core(in, t);
  const Speeds v = speeds(in);
  m.kernels += g.count;
  if (full > 0) {
    add(m.decode[0], decode_class(core, full, v));
    add(m.prefill[0], {chunk_form(core, full, v)});
  }
  if (windowed > 0) {
    m.window = t.window;
    m.prefill[1].window = t.window_is_chunk ? Window::Chunked : Window::Sliding;
    m.prefill[1].size = m.window;
    add(m.decode[1], decode_class(core, windowed, v));
    add(m.prefill[1], {chunk_form(core, windowed, v)});
  }
}

void add_mla(AttentionModel& m, const OperatorInput& in, const model::AttentionBlocks& g) {
  const model::Attention& t = *g.attention;
  const double layers = g.count;
  const Speeds v = speeds(in);
  m.kernels += layers;
  m.absorb = absorb_operator(in, t, m.absorb.count + layers);
  if (t.indexer_top_k == 0) {
    add(m.decode[0], decode_class(mla_absorbed(in, t), layers, v));
    add(m.prefill[0], {expanded_form(in, t, layers, v), absorbed_form(in, t, layers, v)});
    return;
  }
  m.window = t.indexer_top_k;
  m.prefill[1].window = Window::Sliding;
  m.prefill[1].size = m.window;
  add(m.decode[1], decode_class(mla_absorbed(in, t), layers, v));
  add(m.prefill[1], {absorbed_form(in, t, layers, v)});
  if (t.indexer_heads == 0) return;
  m.kernels += layers;
  add(m.decode[0], decode_class(indexer_core(t), layers, v));
  add(m.prefill[0], {chunk_form(indexer_core(t), layers, v)});
}

// Attention over an encoder's tokens: as long for every query, whatever came before it.
void add_cross(AttentionModel& m, const OperatorInput& in, const model::AttentionBlocks& g) {
  const Core core = gqa_core(in, *g.attention);
  const Speeds v = speeds(in);
  const double layers = g.count;
  const double keys = in.architecture.encoder_tokens;
  m.kernels += layers;
  add(m.fixed, {0, 0, layers * core.query_flops_per_key * keys, layers * (core.io_bytes + core.key_bytes * keys),
                v.decode_flops, v.gather});
  ChunkForm f;
  f.flops.per_query = layers * core.query_flops_per_key * keys;
  f.bytes.per_query = layers * core.io_bytes;
  f.bytes.per_chunk = layers * core.key_bytes * keys;
  f.compute.per_query = f.flops.per_query / v.prefill_flops + layers * core.heads * v.tile_s / tile_rows;
  f.memory.per_query = f.bytes.per_query / v.gather;
  f.memory.per_chunk = f.bytes.per_chunk / v.gather;
  add(m.prefill[2], {f});
}

// A state is read and written by every decoding step, and once by every chunk of a prompt.
void add_state(AttentionModel& m, const OperatorInput& in, double layers) {
  const StateWork work = state_work(*in.architecture.state, in.tensor);
  const Speeds v = speeds(in);
  const double bytes = 2.0 * layers * work.state_bytes;
  add(m.fixed, {0, 0, 0, bytes, v.decode_flops, v.gather});
  ChunkForm f;
  f.flops.per_query = layers * work.prefill_flops;
  f.bytes.per_chunk = bytes;
  f.compute.per_query = f.flops.per_query / v.prefill_flops;
  f.memory.per_chunk = bytes / v.gather;
  add(m.prefill[2], {f});
}

}  // namespace

Rooflines DecodeClass::at(double decoders, double context) const {
  Rooflines r;
  if (empty()) return r;
  r.flops = flops_per_context * context + flops_per_decoder * decoders;
  r.bytes = bytes_per_context * context + bytes_per_decoder * decoders;
  r.compute_s = r.flops / flops_per_s;
  r.memory_s = r.bytes / bytes_per_s;
  return r;
}

AttentionModel attention_model(const OperatorInput& in) {
  const model::Blocks blocks = model::blocks_of(in.architecture);
  AttentionModel m;
  for (const model::AttentionBlocks& g : blocks.attention) {
    if (g.cross)
      add_cross(m, in, g);
    else if (g.attention->kind == model::AttentionKind::Gqa)
      add_gqa(m, in, g);
    else
      add_mla(m, in, g);
  }
  if (blocks.state > 0) add_state(m, in, blocks.state);
  return m;
}

}  // namespace servecast::cost
