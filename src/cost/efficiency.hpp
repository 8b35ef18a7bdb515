// Achieved shares of datasheet peaks and launch floors, used wherever no measured kernel table exists. Shares are of
// dense peaks and of nominal memory bandwidth; floors are in us per kernel inside a CUDA graph. Every member can be
// overridden by data; docs/models/cost.md lists kind and source of each default.
#pragma once

namespace servecast::config {
class Fields;
}

namespace servecast::cost {

// One matrix multiplication of m rows takes floor + max(FLOP / (peak * compute(m)), bytes / (bandwidth * streaming)),
// compute(m) = small + (large - small) * m / (m + blend_tokens): smooth, and m / compute(m) never falls.
struct GemmEfficiency {
  double large = 0.75;      // assumed: SPEC 2.1
  double small = 0.50;      // assumed: SPEC 2.1
  double streaming = 0.85;  // weights and activations from HBM
  double floor_us = 2.5;    // assumed: SPEC 2.1, 1.5-3 us per dependent kernel
};

struct Efficiency {
  // streaming of bf16: measured 6.4 of 7.67 TB/s (B200), 4.04 of 4.8 (H200), 2.96 of 3.35 (H100): 0.83-0.88.
  GemmEfficiency bf16 = {0.75, 0.50, 0.85, 2.5};
  // fp8 streaming: measured 6.12 of 7.67 TB/s (B200, fp8_block); best GEMM 0.77 of peak.
  GemmEfficiency fp8 = {0.75, 0.50, 0.80, 2.5};
  // fp4: measured 5.31 of 7.67 TB/s and 0.59 of peak at best (B200, nvfp4); floor 5.4-5.8 us fitted on two stacks.
  GemmEfficiency fp4 = {0.55, 0.40, 0.69, 5.5};
  double blend_tokens = 128;         // assumed: rows at which a GEMM is halfway from small to large
  double expert_tile = 64;           // assumed: rows a grouped GEMM rounds each expert's tokens up to (SPEC 3.4)
  double elementwise = 0.90;         // assumed: SPEC 2.1
  double kv_gather = 0.89;           // measured: decode attention, B200, 1-3 GB of KV
  double attention_floor_us = 6.6;   // measured: fitted floor of decode attention, B200 vLLM (other stacks to 10.7)
  double decode_attention = 0.50;    // assumed: share of the BF16 peak of decode attention
  double prefill_attention = 0.60;   // measured: 1351 of 2250 TFLOP/s (B200), 676 of 989 (H100), head size 128
  double prefill_tile_us = 3.5;      // derived: per 128-query tile and head on one SM, from B200 batch-1 curves
  double piecewise_launch_us = 3.0;  // assumed: attention launch per layer outside the graph (SPEC 2.3)
  double eager_launch_us = 6.0;      // assumed: no kernel of an uncaptured step is faster than its launch
};

void describe(config::Fields& f, GemmEfficiency& g);
void describe(config::Fields& f, Efficiency& e);

}  // namespace servecast::cost
