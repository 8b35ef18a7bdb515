// Attention over a paged KV cache: prompts, decoding and verification are one product of rows (all heads of a kv head's
// group for each query) with keys, an online softmax, and one with values, in tensor cores. A block takes one tile of
// rows of one kv head of one sequence; with few rows the keys are cut into parts, whose results a second kernel joins.
// Scores are scaled by 1/sqrt(head dim). Correct first: one stage of shared memory, several blocks per SM hide latency.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/tensor.cuh"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"

#include <cuda_fp8.h>

namespace servecast::microbench::cuda {

namespace {

constexpr int tile = static_cast<int>(layout::key_tile);
constexpr float nothing_yet = -1e30F;  // finite, so that no difference is NaN
constexpr float log2_e = 1.4426950408889634F;

// Keys and values of one tile; rows padded by 16 bytes, so that the rows of a matrix load lie in different banks.
template <int Dim>
struct Shared {
  static constexpr int row = Dim + 8;
  std::uint16_t k[tile][row];
  std::uint16_t v[tile][row];
};

__device__ void store_fp8(std::uint16_t* out, const uint4& in) {
  const std::uint32_t words[4] = {in.x, in.y, in.z, in.w};
  for (int w = 0; w < 4; ++w)
    for (int half = 0; half < 2; ++half) {
      const auto pair = static_cast<__nv_fp8x2_storage_t>(words[w] >> (16 * half));
      const float2 x = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3)));
      reinterpret_cast<std::uint32_t*>(out)[w * 2 + half] = pack_bf16(x.x, x.y);
    }
}

// Keys [first, first + tile) of the sequence, zeros from `end` on.
template <int Dim, bool Fp8, int Threads>
__device__ void load_tile(Shared<Dim>& s, const AttentionArguments& a, std::int64_t sequence, int kv_head, int first,
                          int end) {
  constexpr int per_piece = Fp8 ? 16 : 8;  // elements in 16 bytes
  constexpr int pieces = Dim / per_piece;
  const std::int32_t* blocks = a.block_table + sequence * a.blocks_per_sequence;
  for (int i = static_cast<int>(threadIdx.x); i < tile * pieces; i += Threads) {
    const int key = i / pieces, element = i % pieces * per_piece, token = first + key;
    const bool valid = token < end;
    const int inside = valid ? token : 0;
    const std::int64_t at = layout::kv_offset(blocks[inside / static_cast<int>(layout::kv_block)],
                                              inside % layout::kv_block, kv_head, a.kv_heads, Dim) +
                            element;
    if constexpr (Fp8) {
      const uint4 zero = make_uint4(0, 0, 0, 0);
      const auto* k = static_cast<const std::uint8_t*>(a.k) + at;
      const auto* v = static_cast<const std::uint8_t*>(a.v) + at;
      store_fp8(&s.k[key][element], valid ? *reinterpret_cast<const uint4*>(k) : zero);
      store_fp8(&s.v[key][element], valid ? *reinterpret_cast<const uint4*>(v) : zero);
    } else {
      copy_16(&s.k[key][element], static_cast<const std::uint16_t*>(a.k) + at, valid);
      copy_16(&s.v[key][element], static_cast<const std::uint16_t*>(a.v) + at, valid);
    }
  }
  close_group();
  wait_groups<0>();
}

// The 16 rows of a warp: queries as operand a of the first product, sums of the second, softmax state of the two rows
// that each lane holds.
template <int Dim>
struct Rows {
  std::uint32_t q[Dim / 16][4];
  float out[Dim / 8][4];
  float most[2];  // largest score so far, times log2(e)
  float sum[2];
};

template <int Dim>
__device__ void load_rows(Rows<Dim>& r, const AttentionArguments& a, std::int64_t sequence, int kv_head, int first_row,
                          int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32, group = a.heads / a.kv_heads;
  for (int step = 0; step < Dim / 16; ++step)
    for (int reg = 0; reg < 4; ++reg) {
      const int row = first_row + layout::a_row(lane, reg);
      const int query = static_cast<int>(layout::row_query(row, group));
      const int head = kv_head * group + static_cast<int>(layout::row_head(row, group));
      const int column = step * 16 + layout::a_column(lane, reg);
      r.q[step][reg] = row < rows
                           ? *reinterpret_cast<const std::uint32_t*>(
                                 a.q + layout::query_offset(sequence, query, head, a.queries, a.heads, Dim) + column)
                           : 0;
    }
  for (auto& block : r.out)
    for (float& x : block) x = 0;
  for (int half = 0; half < 2; ++half) r.most[half] = nothing_yet, r.sum[half] = 0;
}

// Scores of the tile's keys, in units of log2, masked beyond what each row may see.
template <int Dim>
__device__ void scores(float (&p)[tile / 8][4], const Rows<Dim>& r, const Shared<Dim>& s, const int (&visible)[2],
                       int first) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float scale = log2_e * rsqrtf(static_cast<float>(Dim));
  for (int n = 0; n < tile / 8; ++n) {
    for (float& x : p[n]) x = 0;
    // four matrices: keys n*8.., dims of two steps of 16
    for (int step = 0; step < Dim / 16; step += 2) {
      std::uint32_t b[4];
      load_matrices(b, &s.k[n * 8 + lane % 8][step * 16 + lane / 8 * 8]);
      mma(p[n], r.q[step], b[0], b[1]);
      mma(p[n], r.q[step + 1], b[2], b[3]);
    }
    for (int e = 0; e < 4; ++e) {
      const int key = first + n * 8 + layout::accumulator_column(lane, e);
      p[n][e] = key < visible[e / 2] ? p[n][e] * scale : nothing_yet;
    }
  }
}

// Largest and sum over the four lanes that share a row.
__device__ float row_most(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffU, x, 2));
}
__device__ float row_sum(float x) {
  x += __shfl_xor_sync(0xffffffffU, x, 1);
  return x + __shfl_xor_sync(0xffffffffU, x, 2);
}

// Scores to weights relative to the new maximum; what was summed before is rescaled to it.
template <int Dim>
__device__ void soften(float (&p)[tile / 8][4], Rows<Dim>& r) {
  for (int half = 0; half < 2; ++half) {
    float most = r.most[half];
    for (int n = 0; n < tile / 8; ++n) most = fmaxf(most, fmaxf(p[n][half * 2], p[n][half * 2 + 1]));
    most = row_most(most);
    const float rescale = exp2f(r.most[half] - most);
    float sum = 0;
    for (int n = 0; n < tile / 8; ++n)
      for (int e = half * 2; e < half * 2 + 2; ++e) {
        // a row that sees nothing of any tile yet has most == nothing_yet: its weights are zero, not one
        p[n][e] = p[n][e] > nothing_yet ? exp2f(p[n][e] - most) : 0;
        sum += p[n][e];
      }
    r.sum[half] = r.sum[half] * rescale + row_sum(sum);
    r.most[half] = most;
    for (auto& block : r.out) block[half * 2] *= rescale, block[half * 2 + 1] *= rescale;
  }
}

// out += weights x values.
template <int Dim>
__device__ void add_values(Rows<Dim>& r, const float (&p)[tile / 8][4], const Shared<Dim>& s) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int step = 0; step < tile / 16; ++step) {
    const auto& x = p[step * 2];
    const auto& y = p[step * 2 + 1];
    const std::uint32_t a[4] = {pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]), pack_bf16(y[0], y[1]),
                                pack_bf16(y[2], y[3])};
    for (int d = 0; d < Dim / 8; d += 2) {
      // matrices: keys 0-7 and 8-15 of dims d*8.., then of the next eight dims
      std::uint32_t b[4];
      load_matrices_transposed(b, &s.v[step * 16 + lane % 16][d * 8 + lane / 16 * 8]);
      mma(r.out[d], a, b[0], b[1]);
      mma(r.out[d + 1], a, b[2], b[3]);
    }
  }
}

__device__ std::int64_t partial_offset(const AttentionArguments& a, std::int64_t split, std::int64_t unit,
                                       std::int64_t row) {
  const std::int64_t rows = static_cast<std::int64_t>(a.queries) * (a.heads / a.kv_heads);
  return ((split * a.batch * a.kv_heads + unit) * rows + row) * (a.head_dim + 2);
}

template <int Dim>
__device__ void store_rows(const Rows<Dim>& r, const AttentionArguments& a, std::int64_t unit, int first_row,
                           int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32, group = a.heads / a.kv_heads;
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + lane / 4 + half * 8;
    if (row >= rows) continue;
    if (a.splits > 1) {
      float* out = a.partial + partial_offset(a, blockIdx.z, unit, row);
      for (int d = 0; d < Dim / 8; ++d)
        for (int e = 0; e < 2; ++e) out[d * 8 + layout::accumulator_column(lane, e)] = r.out[d][half * 2 + e];
      if (lane % 4 == 0) out[Dim] = r.most[half], out[Dim + 1] = r.sum[half];
      continue;
    }
    const int head = static_cast<int>(unit % a.kv_heads) * group + static_cast<int>(layout::row_head(row, group));
    std::uint16_t* out =
        a.out + layout::query_offset(unit / a.kv_heads, layout::row_query(row, group), head, a.queries, a.heads, Dim);
    const float inverse = 1 / r.sum[half];  // every row sees at least one key
    for (int d = 0; d < Dim / 8; ++d)
      *reinterpret_cast<std::uint32_t*>(out + d * 8 + layout::accumulator_column(lane, 0)) =
          pack_bf16(r.out[d][half * 2] * inverse, r.out[d][half * 2 + 1] * inverse);
  }
}

// grid: row tiles, sequences x kv heads, splits.
template <int Dim, bool Fp8, int Warps>
__global__ void __launch_bounds__(Warps * 32) attention_kernel(const AttentionArguments a) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<Shared<Dim>*>(memory);
  const std::int64_t unit = blockIdx.y, sequence = unit / a.kv_heads;
  const int kv_head = static_cast<int>(unit % a.kv_heads), group = a.heads / a.kv_heads, rows = a.queries * group;
  const int tile_row = static_cast<int>(blockIdx.x) * Warps * 16;
  const int first_row = tile_row + static_cast<int>(threadIdx.x) / 32 * 16, lane = static_cast<int>(threadIdx.x) % 32;
  // The last row of the block sees most; tiles beyond it are not read.
  const int last_row = min(tile_row + Warps * 16, rows) - 1;
  const int end = static_cast<int>(layout::visible_keys(layout::row_query(last_row, group), a.cached));
  const std::int64_t tiles = layout::ceil_div(end, tile);
  int visible[2];
  for (int half = 0; half < 2; ++half)
    visible[half] =
        static_cast<int>(layout::visible_keys(layout::row_query(first_row + lane / 4 + half * 8, group), a.cached));
  Rows<Dim> r;
  load_rows(r, a, sequence, kv_head, first_row, rows);
  const auto from = static_cast<int>(layout::split_begin(blockIdx.z, a.splits, tiles));
  const auto to = static_cast<int>(layout::split_begin(blockIdx.z + 1, a.splits, tiles));
  for (int t = from; t < to; ++t) {
    load_tile<Dim, Fp8, Warps * 32>(s, a, sequence, kv_head, t * tile, end);
    __syncthreads();
    float p[tile / 8][4];
    scores(p, r, s, visible, t * tile);
    soften(p, r);
    add_values(r, p, s);
    __syncthreads();  // before the next tile overwrites this one
  }
  store_rows(r, a, unit, first_row, rows);
}

// Joins the parts of one row: one warp a row.
template <int Dim>
__global__ void __launch_bounds__(128) join_kernel(const AttentionArguments a) {
  const int group = a.heads / a.kv_heads, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t rows = static_cast<std::int64_t>(a.queries) * group;
  const std::int64_t all = rows * a.batch * a.kv_heads;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
  if (index >= all) return;
  const std::int64_t unit = index / rows, row = index % rows;
  float most = nothing_yet;
  for (int i = 0; i < a.splits; ++i) most = fmaxf(most, a.partial[partial_offset(a, i, unit, row) + Dim]);
  float sum = 0, out[Dim / 32] = {};
  for (int i = 0; i < a.splits; ++i) {
    const float* part = a.partial + partial_offset(a, i, unit, row);
    const float weight = exp2f(part[Dim] - most);  // 0 for a part in which the row sees no key
    sum += weight * part[Dim + 1];
    for (int d = 0; d < Dim / 32; ++d) out[d] += weight * part[d * 32 + lane];
  }
  const int head = static_cast<int>(unit % a.kv_heads) * group + static_cast<int>(layout::row_head(row, group));
  std::uint16_t* to =
      a.out + layout::query_offset(unit / a.kv_heads, layout::row_query(row, group), head, a.queries, a.heads, Dim);
  for (int d = 0; d < Dim / 32; ++d) to[d * 32 + lane] = codec::float_to_bf16(out[d] / sum);
}

template <int Dim, bool Fp8, int Warps>
void run(const AttentionArguments& a, cudaStream_t s) {
  const int rows = a.queries * (a.heads / a.kv_heads);
  const dim3 grid(static_cast<unsigned>((rows + Warps * 16 - 1) / (Warps * 16)),
                  static_cast<unsigned>(a.batch * a.kv_heads), static_cast<unsigned>(a.splits));
  attention_kernel<Dim, Fp8, Warps><<<grid, Warps * 32, sizeof(Shared<Dim>), s>>>(a);
  if (a.splits == 1) return;
  const std::int64_t all = static_cast<std::int64_t>(rows) * a.batch * a.kv_heads;
  join_kernel<Dim><<<static_cast<unsigned>((all + 3) / 4), 128, 0, s>>>(a);
}

// Few rows: one warp, several of whose blocks share an SM. Prompts: four warps share the tiles of keys.
bool prompt(const AttentionArguments& a) { return a.cached == 0; }

}  // namespace

std::int64_t attention_units(const AttentionArguments& a) {
  const std::int64_t rows = static_cast<std::int64_t>(a.queries) * (a.heads / a.kv_heads);
  return layout::ceil_div(rows, prompt(a) ? 64 : 16) * a.batch * a.kv_heads;
}

void attention(const AttentionArguments& a, cudaStream_t s) {
  if (prompt(a)) return a.head_dim == 64 ? run<64, false, 4>(a, s) : run<128, false, 4>(a, s);
  if (a.head_dim == 64) return a.fp8 ? run<64, true, 1>(a, s) : run<64, false, 1>(a, s);
  return a.fp8 ? run<128, true, 1>(a, s) : run<128, false, 1>(a, s);
}

}  // namespace servecast::microbench::cuda
