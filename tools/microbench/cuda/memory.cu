// Streaming over memory with 16-byte accesses: read, write, copy.
#include "microbench/cuda/kernels.hpp"

namespace servecast::microbench::cuda {

namespace {

constexpr int threads = 512;
constexpr int unroll = 4;  // independent accesses in flight per thread

// From L2 or beyond, never from L1; volatile, so that repeated passes are not merged.
__device__ uint4 load_past_l1(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

__device__ void add_to(std::uint32_t* sum, std::uint32_t mine) {
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(0xffffffffU, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

__global__ void __launch_bounds__(threads)
    read_kernel(const uint4* in, std::int64_t count, int passes, std::uint32_t* sum) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  std::uint32_t mine = 0;
  for (int pass = 0; pass < passes; ++pass) {
    std::int64_t i = first;
    for (; i + (unroll - 1) * step < count; i += unroll * step) {
      uint4 v[unroll];
      for (int u = 0; u < unroll; ++u) v[u] = load_past_l1(in + i + u * step);
      for (int u = 0; u < unroll; ++u) mine += v[u].x + v[u].y + v[u].z + v[u].w;
    }
    for (; i < count; i += step) {
      const uint4 v = load_past_l1(in + i);
      mine += v.x + v.y + v.z + v.w;
    }
  }
  add_to(sum, mine);
}

__global__ void __launch_bounds__(threads) write_kernel(uint4* out, std::int64_t count, std::uint32_t value) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count; i += step) {
    const std::uint32_t v = value + static_cast<std::uint32_t>(i);
    out[i] = make_uint4(v, v, v, v);
  }
}

__global__ void __launch_bounds__(threads)
    copy_kernel(uint4* __restrict__ out, const uint4* __restrict__ in, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  for (; i + (unroll - 1) * step < count; i += unroll * step) {
    uint4 v[unroll];
    for (int u = 0; u < unroll; ++u) v[u] = load_past_l1(in + i + u * step);
    for (int u = 0; u < unroll; ++u) out[i + u * step] = v[u];
  }
  for (; i < count; i += step) out[i] = load_past_l1(in + i);
}

}  // namespace

void read_words(const void* in, std::int64_t bytes, int passes, std::uint32_t* sum, int blocks, cudaStream_t s) {
  read_kernel<<<blocks, threads, 0, s>>>(static_cast<const uint4*>(in), bytes / 16, passes, sum);
}
void write_words(void* out, std::int64_t bytes, std::uint32_t value, int blocks, cudaStream_t s) {
  write_kernel<<<blocks, threads, 0, s>>>(static_cast<uint4*>(out), bytes / 16, value);
}
void copy_words(void* out, const void* in, std::int64_t bytes, int blocks, cudaStream_t s) {
  copy_kernel<<<blocks, threads, 0, s>>>(static_cast<uint4*>(out), static_cast<const uint4*>(in), bytes / 16);
}

}  // namespace servecast::microbench::cuda
