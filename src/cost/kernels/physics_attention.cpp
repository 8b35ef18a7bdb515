#include "cost/kernels/forms.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost::kernels {

namespace {

constexpr double query_tile = 128;  // rows of a prefill attention tile

// DeepSeek's attention: latent 512 and rope 64; 128 per head for keys without rope and for values.
constexpr double mla_cache_width = 576;
constexpr double mla_score_width = 1088;   // 576 for scores, 512 for values
constexpr double mla_prefill_width = 320;  // 192 for scores, 128 for values
constexpr double latent = 512, nope = 128, query_head = 192, hidden = 7168, query_rank = 1536, down_width = 2112;

// Bytes per weight of the projections inside a module, as the study of the tables counted them.
double module_weight_bytes(const Context& c) { return c.weight_bytes; }

double module_macs_per_token(double heads) {
  return hidden * down_width + heads * (query_rank * query_head + latent * 256 + nope * hidden);
}

}  // namespace

DecodeWork decode_work(const Context& c, const Features& x) {
  const double window = x[5];
  DecodeWork w;
  w.length = window > 0 ? std::min(x[4], window) : x[4];
  w.units = x[0] * (c.wide ? x[1] : x[2]);
  w.kv_bytes = 2 * w.units * w.length * x[3] * c.kv_bytes;
  w.distinct = 2 * x[0] * x[2] * w.length * x[3] * c.kv_bytes;
  return w;
}

// cu: time of one (sequence, kv head) on one SM; x2: how much faster resident KV is read.
Physics decode_physics(const Context& c, const Parameters& p, const Features& x, bool cold) {
  const auto [t0, eb, x2, cap, tl, cu, q, rs] = first<8>(p);
  const DecodeWork work = decode_work(c, x);
  const double queries = 4 * x[0] * x[1] * x[3];
  const double bytes = work.distinct + queries;
  const double w = cold ? 0 : resident(bytes, cap * c.machine.l2_bytes);
  const double hbm = bytes / (c.machine.bytes_per_us * eb) * (1 - w * x2 / (1 + x2));
  const double tm = loading(hbm, work.kv_bytes + queries, rs, c.machine);
  const double tu = cu * work.units / c.machine.sms;
  const double floor = t0 + tl * std::log2(1 + work.length / 256);
  return {floor + smooth_max(tu, tm, 1 + q), tu, tm};
}

// Causal attention by query tiles of 128. ct: fixed time of a tile and wave of SMs; tl: the longest row of tiles, which
// one SM works off alone.
Physics prefill_physics(const Context& c, const Parameters& p, const Features& x) {
  const auto [t0, ec, rs, ct, sh, q] = first<6>(p);
  const double batch = x[0], tokens = x[1], heads = x[2], kv_heads = x[3], head_dim = x[4], prefix = x[6];
  const double span = prefix + tokens;
  const double window = x[5] > 0 ? x[5] : span;
  const double tiles = std::ceil(tokens / query_tile);
  const double padded = window >= span ? tiles * query_tile * (prefix + (tokens + query_tile) / 2)
                                       : tiles * query_tile * std::min(window + query_tile, span);
  const double units = batch * heads;
  const double rate = c.machine.bf16 * ec;
  const double tc = 4 * units * head_dim * padded / rate;
  const double to = ct * std::max(1.0, units * tiles / c.machine.sms);
  const double longest = 4 * query_tile * std::min(span, window + query_tile) * head_dim / (rate / c.machine.sms);
  const double bytes = batch * head_dim * (tokens * 4 * heads + span * 4 * kv_heads);
  constexpr double streaming = .9;  // share of the bandwidth at which attention reads HBM, as decode has it
  const double tm = loading(bytes / (streaming * c.machine.bytes_per_us), bytes, rs, c.machine);
  const double stretch = tokens > query_tile ? 1 + sh * query_tile / tokens : 1;
  return {t0 + stretch * smooth_max(tc + to, tm, longest, 1 + q), tc, tm};
}

Physics mla_decode_physics(const Context& c, const Parameters& p, const Features& x, bool cold) {
  const auto [t0, eb, ec, tl, cb, x2, cap, ph, q] = first<9>(p);
  const double batch = x[0], length = x[1], heads = x[2];
  const double bytes = batch * length * mla_cache_width * c.kv_bytes + 2200 * batch * heads;
  const double w = cold ? 0 : resident(bytes, cap * c.machine.l2_bytes);
  const double tm = bytes / (c.machine.bytes_per_us * eb) * (1 - w * x2 / (1 + x2));
  const double tc = 2 * batch * std::max(heads, 16 * ph) * length * mla_score_width / (c.machine.bf16 * ec);
  const double weights = c.module ? module_weight_bytes(c) * heads *
                                        (latent * nope * 2 + nope * hidden + query_rank * query_head) /
                                        (c.machine.bytes_per_us * eb)
                                  : 0;
  const double floor = t0 + tl * std::log2(1 + length / 256) + cb * batch / c.machine.sms;
  return {floor + weights + smooth_max(tm, tc, 1 + q), tc, tm + weights};
}

Physics mla_prefill_physics(const Context& c, const Parameters& p, const Features& x) {
  const auto [t0, ec, eb, ct, cg, q] = first<6>(p);
  const double batch = x[0], tokens = x[1], heads = x[2];
  const double tiles = std::ceil(tokens / query_tile);
  const double tc = 2 * batch * heads * mla_prefill_width * tokens * (tokens + query_tile) / 2 / (c.machine.bf16 * ec) +
                    ct * std::max(1.0, batch * heads * tiles / c.machine.sms);
  const double tm = batch * tokens * (1280 * heads + 1152) / (c.machine.bytes_per_us * eb);
  const double core = smooth_max(tc, tm, 1 + q);
  if (!c.module) return {t0 + core, tc, tm};
  const double macs = module_macs_per_token(heads);
  const double projections = 2 * batch * tokens * macs / (c.peak * cg);
  constexpr double streaming = .8;  // share of the bandwidth at which weights come in
  const double weights = module_weight_bytes(c) * macs / (streaming * c.machine.bytes_per_us);
  return {t0 + core + projections + weights, tc + projections, tm + weights};
}

// One batched product per head: (tokens x 128) by (128 x 512), or back.
Physics mla_bmm_physics(const Context& c, const Parameters& p, const Features& x) {
  const auto [t0, ec, eb, q] = first<4>(p);
  const double tokens = x[0], heads = x[1];
  const double tc = 2 * tokens * heads * nope * latent / (c.peak * ec);
  const double tm =
      heads * (nope * latent * c.weight_bytes + tokens * (nope + latent) * 2) / (c.machine.bytes_per_us * eb);
  return {t0 + smooth_max(tc, tm, 1 + q), tc, tm};
}

}  // namespace servecast::cost::kernels
