#include "cost/efficiency.hpp"

#include "config/fields.hpp"

namespace servecast::cost {
namespace {

// Fitted fractions of a table may exceed 1 slightly: clocks above the one a peak is quoted at.
constexpr config::Range share = config::above(0, 1.5);
constexpr config::Range microseconds = config::closed(0, 1000);

}  // namespace

void describe(config::Fields& f, GemmEfficiency& g) {
  f.field("large", g.large, share, "share of the dense peak with many rows");
  f.field("small", g.small, share, "share of the dense peak with few rows");
  f.field("streaming", g.streaming, share, "share of the memory bandwidth");
  f.field("floor_us", g.floor_us, microseconds, "launch floor per kernel");
  if (f.reading() && g.small > g.large) f.problem("small", "exceeds large; a GEMM gains efficiency with its rows");
}

void describe(config::Fields& f, Efficiency& e) {
  f.field("bf16", e.bf16, "matrix multiplications at the BF16 rate");
  f.field("fp8", e.fp8, "matrix multiplications at the FP8 or INT8 rate");
  f.field("fp4", e.fp4, "matrix multiplications at the FP4 rate");
  f.field("blend_tokens", e.blend_tokens, config::closed(1, 1e6), "rows halfway from small to large");
  f.field("expert_tile", e.expert_tile, config::closed(1, 1024),
          "rows to which a grouped GEMM rounds an expert's tokens");
  f.field("elementwise", e.elementwise, share, "share of the memory bandwidth of elementwise kernels");
  f.field("kv_gather", e.kv_gather, share, "share of the memory bandwidth of reading paged KV");
  f.field("attention_floor_us", e.attention_floor_us, microseconds, "launch floor of an attention kernel");
  f.field("decode_attention", e.decode_attention, share, "share of the BF16 peak of decode attention");
  f.field("prefill_attention", e.prefill_attention, share, "share of the BF16 peak of prefill attention");
  f.field("prefill_tile_us", e.prefill_tile_us, microseconds, "cost of a 128-query tile per head on one SM");
  f.field("piecewise_launch_us", e.piecewise_launch_us, microseconds, "attention launch per layer in mixed steps");
  f.field("eager_launch_us", e.eager_launch_us, microseconds, "least time of a kernel outside CUDA graphs");
}

}  // namespace servecast::cost
