// Routed experts of one layer on one rank: count and place the token copies, gather them by expert, multiply with each
// expert's own weights (gate and up), SiLU, multiply again (down), and mean a token's copies. Products are tiles of
// 64 x 64 over 64-wide steps, tensor cores, two stages of shared memory.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/tensor.cuh"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"

namespace servecast::microbench::cuda {

namespace {

constexpr int tile = static_cast<int>(layout::row_tile);
constexpr int stages = 2;
constexpr int product_threads = 128;
constexpr int padded = tile + 8;  // elements of a row in shared memory: rows of a matrix load lie in different banks

__global__ void count_kernel(const std::int32_t* expert, std::int64_t copies, std::int32_t* counts) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < copies && expert[i] >= 0) atomicAdd(counts + expert[i], 1);
}

// One thread: experts are few. First row and first tile of each expert.
__global__ void begin_kernel(const std::int32_t* counts, int experts, std::int32_t* row_begin,
                             std::int32_t* tile_begin) {
  std::int32_t rows = 0, tiles = 0;
  for (int e = 0; e < experts; ++e) {
    row_begin[e] = rows, tile_begin[e] = tiles;
    rows += counts[e];
    tiles += static_cast<std::int32_t>(layout::ceil_div(counts[e], layout::row_tile));
  }
  row_begin[experts] = rows, tile_begin[experts] = tiles;
}

// Any order of an expert's rows will do: each is multiplied alone.
__global__ void place_kernel(const std::int32_t* expert, std::int64_t copies, const std::int32_t* row_begin,
                             std::int32_t* filled, std::int32_t* row_of) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < copies) row_of[i] = expert[i] < 0 ? -1 : row_begin[expert[i]] + atomicAdd(filled + expert[i], 1);
}

// One block a copy.
__global__ void permute_kernel(const uint4* tokens, const std::int32_t* row_of, int top_k, int pieces,
                               uint4* permuted) {
  const std::int32_t row = row_of[blockIdx.x];
  if (row < 0) return;
  const uint4* from = tokens + static_cast<std::int64_t>(blockIdx.x) / top_k * pieces;
  for (int i = static_cast<int>(threadIdx.x); i < pieces; i += static_cast<int>(blockDim.x))
    permuted[static_cast<std::int64_t>(row) * pieces + i] = from[i];
}

__device__ float silu(float x) { return x / (1 + expf(-x)); }

__global__ void activate_kernel(const std::uint16_t* wide, std::int64_t rows, int inter, std::uint16_t* active) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * inter; i += step) {
    const std::int64_t at = i / inter * 2 * inter + i % inter;
    active[i] = codec::float_to_bf16(silu(codec::bf16_to_float(wide[at])) * codec::bf16_to_float(wide[at + inter]));
  }
}

// One block a token; copies elsewhere count as zero.
__global__ void unpermute_kernel(const std::uint16_t* narrow, const std::int32_t* row_of, int top_k, int hidden,
                                 std::uint16_t* out) {
  for (int h = static_cast<int>(threadIdx.x); h < hidden; h += static_cast<int>(blockDim.x)) {
    float sum = 0;
    for (int k = 0; k < top_k; ++k) {
      const std::int32_t row = row_of[static_cast<std::int64_t>(blockIdx.x) * top_k + k];
      if (row >= 0) sum += codec::bf16_to_float(narrow[static_cast<std::int64_t>(row) * hidden + h]);
    }
    out[static_cast<std::int64_t>(blockIdx.x) * hidden + h] = codec::float_to_bf16(sum / static_cast<float>(top_k));
  }
}

struct Stage {
  std::uint16_t a[tile][padded];
  std::uint16_t b[tile][padded];
};

// Rows and 64 columns of k of both operands; rows beyond `rows` are zero.
__device__ void load_stage(Stage& s, const std::uint16_t* a, const std::uint16_t* b, int rows, int k_all, int k) {
  for (int i = static_cast<int>(threadIdx.x); i < tile * tile / 8; i += product_threads) {
    const int row = i / (tile / 8), column = i % (tile / 8) * 8;
    const std::int64_t at = static_cast<std::int64_t>(row) * k_all + k + column;
    copy_16(&s.a[row][column], row < rows ? a + at : a, row < rows);
    copy_16(&s.b[row][column], b + at, true);
  }
}

// Warps 2 x 2, each 32 rows x 32 columns.
__device__ void multiply_stage(const Stage& s, float (&sums)[2][4][4]) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row0 = warp / 2 * 32, column0 = warp % 2 * 32;
  for (int k = 0; k < tile; k += 16) {
    std::uint32_t a[2][4], b[2][4];
    // matrices of a: rows 0-7 and 8-15 of the first eight k, then of the next eight
    for (int i = 0; i < 2; ++i) load_matrices(a[i], &s.a[row0 + i * 16 + lane % 16][k + lane / 16 * 8]);
    // matrices of b: eight columns' first and next eight k, then those of the next eight columns
    for (int j = 0; j < 2; ++j)
      load_matrices(b[j], &s.b[column0 + j * 16 + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) mma(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
  }
}

// out[row][n] = in[row] . weights[expert][n]; grid: 64-wide columns of n, tiles of rows (as many as there could be).
__global__ void __launch_bounds__(product_threads)
    product_kernel(const std::uint16_t* in, const std::uint16_t* weights, const std::int32_t* row_begin,
                   const std::int32_t* tile_begin, int experts, int n_all, int k_all, std::uint16_t* out) {
  __shared__ __align__(16) Stage s[stages];
  const auto tile_number = static_cast<std::int64_t>(blockIdx.y);
  if (tile_number >= tile_begin[experts]) return;
  const std::int64_t expert = layout::expert_of_tile(tile_begin, experts, tile_number);
  const std::int64_t first = row_begin[expert] + (tile_number - tile_begin[expert]) * tile;
  const int rows = min(tile, static_cast<int>(row_begin[expert + 1] - first));
  const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * tile;
  const std::uint16_t* a = in + first * k_all;
  const std::uint16_t* b = weights + (expert * n_all + n) * k_all;
  float sums[2][4][4] = {};
  const int steps = k_all / tile;
  load_stage(s[0], a, b, rows, k_all, 0);
  close_group();
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) load_stage(s[(step + 1) % stages], a, b, rows, k_all, (step + 1) * tile);
    close_group();  // empty after the last load, so that always one group may be pending
    wait_groups<1>();
    __syncthreads();
    multiply_stage(s[step % stages], sums);
    __syncthreads();  // before the stage is loaded again
  }
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = 0; i < 2; ++i)
    for (int half = 0; half < 2; ++half) {
      const int row = warp / 2 * 32 + i * 16 + layout::accumulator_row(lane, half * 2);
      if (row >= rows) continue;
      for (int j = 0; j < 4; ++j) {
        const std::int64_t column = n + warp % 2 * 32 + j * 8 + layout::accumulator_column(lane, 0);
        *reinterpret_cast<std::uint32_t*>(out + (first + row) * n_all + column) =
            pack_bf16(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
      }
    }
}

}  // namespace

void experts(const MoeArguments& m, cudaStream_t s) {
  const std::int64_t copies = static_cast<std::int64_t>(m.token_count) * m.top_k;
  const auto count_blocks = static_cast<unsigned>(layout::ceil_div(copies, 256));
  const auto tiles = static_cast<unsigned>(layout::most_tiles(m.rows, m.experts));
  cudaMemsetAsync(m.counts, 0, sizeof(std::int32_t) * static_cast<std::size_t>(m.experts), s);
  cudaMemsetAsync(m.filled, 0, sizeof(std::int32_t) * static_cast<std::size_t>(m.experts), s);
  count_kernel<<<count_blocks, 256, 0, s>>>(m.expert, copies, m.counts);
  begin_kernel<<<1, 1, 0, s>>>(m.counts, m.experts, m.row_begin, m.tile_begin);
  place_kernel<<<count_blocks, 256, 0, s>>>(m.expert, copies, m.row_begin, m.filled, m.row_of);
  permute_kernel<<<static_cast<unsigned>(copies), 128, 0, s>>>(
      reinterpret_cast<const uint4*>(m.tokens), m.row_of, m.top_k, m.hidden / 8, reinterpret_cast<uint4*>(m.permuted));
  product_kernel<<<dim3(static_cast<unsigned>(2 * m.inter / tile), tiles), product_threads, 0, s>>>(
      m.permuted, m.gate_up, m.row_begin, m.tile_begin, m.experts, 2 * m.inter, m.hidden, m.wide);
  activate_kernel<<<2048, 256, 0, s>>>(m.wide, m.rows, m.inter, m.active);
  product_kernel<<<dim3(static_cast<unsigned>(m.hidden / tile), tiles), product_threads, 0, s>>>(
      m.active, m.down, m.row_begin, m.tile_begin, m.experts, m.hidden, m.inter, m.narrow);
  unpermute_kernel<<<static_cast<unsigned>(m.token_count), 256, 0, s>>>(m.narrow, m.row_of, m.top_k, m.hidden, m.out);
}

}  // namespace servecast::microbench::cuda
