#include "microbench/host/grids.hpp"

#include <algorithm>

namespace servecast::microbench {

namespace {

using Sizes = std::vector<std::int64_t>;

// Rows of a step: powers of two, what lies between them, and counts that are no multiple of four, whose kernels differ.
const Sizes rows_full = {1,   2,   3,   4,   5,   8,   12,  16,  17,   24,   32,   33,   48,   64,   65,   96,   128,
                         129, 192, 256, 257, 384, 512, 513, 768, 1024, 1025, 1536, 2048, 2560, 3072, 4096, 8192, 16384};
const Sizes rows_quick = {1, 4, 16, 64, 256, 1024, 4096};
const Sizes widths_full = {128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 28672, 65536};
const Sizes widths_quick = {1024, 4096, 8192};

// A product beyond this many multiply-adds takes tens of milliseconds and says nothing that smaller ones do not.
constexpr double most_products = 5e12;

struct Heads {
  std::int64_t heads, kv_heads;
};
// Per rank: Llama 70B on 1, 2 and 8 GPUs, 8B on 1 and 4, multi-head models, Qwen's 4 kv heads.
const std::vector<Heads> heads_full = {{64, 8}, {32, 4}, {8, 1},  {32, 8}, {8, 2},
                                       {16, 1}, {4, 1},  {28, 4}, {8, 8},  {32, 32}};
const std::vector<Heads> heads_quick = {{32, 8}, {8, 1}, {8, 8}};

}  // namespace

std::vector<Point> gemm_grid(const DeviceInfo& d, bool quick) {
  std::vector<Point> out;
  for (const Format f : {Format::Bf16, Format::Fp8, Format::Nvfp4}) {
    if ((f == Format::Fp8 && !d.tensor_fp8) || (f == Format::Nvfp4 && !d.tensor_fp4)) continue;
    for (const std::int64_t n : quick ? widths_quick : widths_full)
      for (const std::int64_t k : quick ? widths_quick : widths_full)
        for (const std::int64_t m : quick ? rows_quick : rows_full)
          if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <= most_products)
            out.push_back(Gemm{f, m, n, k});
  }
  return out;
}

std::vector<Point> decode_grid(bool quick) {
  const Sizes batches = quick ? Sizes{1, 4, 16, 64, 256} : Sizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  const Sizes cached = quick ? Sizes{127, 1023, 4095, 16383}
                             : Sizes{1, 15, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 16383, 32767, 65535, 131071};
  // Benchmarks of a row beyond 64 GiB of cache would measure nothing that a quarter of it does not.
  constexpr std::int64_t most_tokens = std::int64_t{4} << 20;
  std::vector<Point> out;
  for (const Format kv : {Format::Bf16, Format::Fp8})
    for (const std::int64_t dim : quick ? Sizes{128} : Sizes{64, 128})
      for (const Heads& h : quick ? heads_quick : heads_full)
        for (const std::int64_t b : batches)
          for (const std::int64_t c : cached)
            if (b * (c + 1) * h.kv_heads <= most_tokens * 8)
              out.push_back(Attention{kv, b, 1, c, h.heads, h.kv_heads, dim});
  return out;
}

std::vector<Point> prefill_grid(bool quick) {
  const Sizes batches = quick ? Sizes{1, 4} : Sizes{1, 2, 4, 8, 16, 32};
  const Sizes tokens = quick ? Sizes{64, 256, 1024, 4096}
                             : Sizes{1, 16, 32, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384};
  constexpr std::int64_t most_tokens = 65536;
  std::vector<Point> out;
  for (const std::int64_t dim : quick ? Sizes{128} : Sizes{64, 128})
    for (const Heads& h : quick ? heads_quick : heads_full)
      for (const std::int64_t b : batches)
        for (const std::int64_t t : tokens)
          if (b * t <= most_tokens) out.push_back(Attention{Format::Bf16, b, t, 0, h.heads, h.kv_heads, dim});
  return out;
}

std::vector<Point> verify_grid(bool quick) {
  std::vector<Point> out;
  for (const Heads& h : quick ? std::vector<Heads>{{32, 8}} : std::vector<Heads>{{64, 8}, {32, 8}, {8, 1}, {8, 8}})
    for (const std::int64_t queries : quick ? Sizes{2, 5} : Sizes{2, 3, 4, 5, 6, 8, 16})
      for (const std::int64_t b : quick ? Sizes{1, 32} : Sizes{1, 4, 16, 64, 256})
        for (const std::int64_t c : quick ? Sizes{1024} : Sizes{256, 1024, 4096, 16384})
          out.push_back(Attention{Format::Bf16, b, queries, c, h.heads, h.kv_heads, 128});
  return out;
}

std::vector<Point> quantise_grid(bool quick) {
  const Sizes rows = quick ? Sizes{1, 16, 128, 1024, 8192}
                           : Sizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const Sizes widths =
      quick ? Sizes{1024, 2048, 4096, 8192} : Sizes{512, 1024, 2048, 3072, 4096, 5120, 7168, 8192, 12288, 16384, 28672};
  std::vector<Point> out;
  for (const Format f : {Format::Fp8, Format::Nvfp4})
    for (const bool search : {true, false})
      for (const std::int64_t w : widths)
        for (const std::int64_t r : rows) out.push_back(Quantise{f, search, r, w});
  for (const std::int64_t bytes : quick ? Sizes{1 << 24, 1 << 28} : Sizes{1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30})
    out.push_back(Machine{Quantity::Nvfp4Dequantise, bytes, 0});
  return out;
}

std::vector<Point> moe_grid(bool quick) {
  struct Shape {
    std::int64_t hidden, inter, top_k, experts;
  };
  // Mixtral 8x7B; Qwen3 30B and 235B; DeepSeek-V3; gpt-oss width with its alignment of 64 kept (2880).
  const std::vector<Shape> shapes = quick ? std::vector<Shape>{{2048, 768, 8, 128}, {4096, 1536, 8, 128}}
                                          : std::vector<Shape>{{4096, 14336, 2, 8},
                                                               {2048, 768, 8, 128},
                                                               {4096, 1536, 8, 128},
                                                               {7168, 2048, 8, 256},
                                                               {2880, 2880, 4, 128}};
  const Sizes tokens = quick ? Sizes{1, 4, 16, 64, 256, 1024}
                             : Sizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  std::vector<Point> out;
  for (const double alpha : {0.0, 1.2})
    for (const Shape& s : shapes)
      for (const std::int64_t ep : quick ? Sizes{1, 8} : Sizes{1, 2, 4, 8, 32})
        for (const std::int64_t t : tokens)
          if (s.experts % ep == 0 && s.experts >= ep)
            out.push_back(Experts{t, s.hidden, s.inter, s.top_k, s.experts, ep, alpha});
  return out;
}

std::vector<Point> nccl_grid(const DeviceInfo& d, bool quick) {
  std::vector<Point> out;
  if (d.nccl.empty()) return out;
  for (const CollectiveOp op : {CollectiveOp::AllReduce, CollectiveOp::AllToAll})
    for (const bool graph : {false, true})
      for (std::int64_t gpus = 2; gpus <= d.gpus; gpus *= 2)
        for (std::int64_t elements = 256; elements <= (std::int64_t{1} << 29); elements *= quick ? 16 : 2)
          // a graph's all-to-all has no table; its elements divide by the ranks because both are powers of two
          if (op == CollectiveOp::AllReduce || !graph) out.push_back(Collective{op, graph, gpus, elements});
  return out;
}

}  // namespace servecast::microbench
