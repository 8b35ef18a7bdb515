// Fills inputs with the values that host references compute themselves.
#include "microbench/cuda/kernels.hpp"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"
#include "microbench/host/values.hpp"

namespace servecast::microbench::cuda {

namespace {

constexpr int threads = 256;
constexpr int most_blocks = 4096;

int blocks_for(std::int64_t count) {
  const std::int64_t blocks = layout::ceil_div(count, threads);
  return static_cast<int>(blocks < most_blocks ? (blocks > 0 ? blocks : 1) : most_blocks);
}

template <class Out, class Value>
__global__ void fill(Out* out, std::int64_t count, Value value) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    out[i] = value(i);
}

struct Bf16 {
  std::uint64_t stream;
  __device__ std::uint16_t operator()(std::int64_t i) const {
    return values::bf16_code(stream, static_cast<std::uint64_t>(i));
  }
};
struct E4m3 {
  std::uint64_t stream;
  __device__ std::uint8_t operator()(std::int64_t i) const {
    return values::e4m3_code(stream, static_cast<std::uint64_t>(i));
  }
};
struct E2m1 {
  std::uint64_t stream;
  __device__ std::uint8_t operator()(std::int64_t i) const {
    return values::e2m1_pair(stream, static_cast<std::uint64_t>(i));
  }
};
struct Word {
  __device__ std::uint32_t operator()(std::int64_t i) const { return static_cast<std::uint32_t>(i); }
};
struct Integer {
  int add;
  __device__ std::uint16_t operator()(std::int64_t i) const {
    return codec::float_to_bf16(static_cast<float>(static_cast<int>(i % 7) + add));
  }
};

__global__ void scales(std::uint8_t* out, std::int64_t rows, std::int64_t groups, std::int64_t k,
                       std::uint64_t stream) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * groups; i += step)
    out[layout::scale_offset(i / groups, i % groups, k)] = values::scale_code(stream, static_cast<std::uint64_t>(i));
}

}  // namespace

void fill_bf16(std::uint16_t* out, std::int64_t count, std::uint64_t stream_id, cudaStream_t s) {
  fill<<<blocks_for(count), threads, 0, s>>>(out, count, Bf16{stream_id});
}
void fill_e4m3(std::uint8_t* out, std::int64_t count, std::uint64_t stream_id, cudaStream_t s) {
  fill<<<blocks_for(count), threads, 0, s>>>(out, count, E4m3{stream_id});
}
void fill_e2m1(std::uint8_t* out, std::int64_t pairs, std::uint64_t stream_id, cudaStream_t s) {
  fill<<<blocks_for(pairs), threads, 0, s>>>(out, pairs, E2m1{stream_id});
}
void fill_words(std::uint32_t* out, std::int64_t count, cudaStream_t s) {
  fill<<<blocks_for(count), threads, 0, s>>>(out, count, Word{});
}
void fill_integers(std::uint16_t* out, std::int64_t count, int add, cudaStream_t s) {
  fill<<<blocks_for(count), threads, 0, s>>>(out, count, Integer{add});
}
void fill_scales(std::uint8_t* out, std::int64_t rows, std::int64_t k, std::uint64_t stream_id, cudaStream_t s) {
  cudaMemsetAsync(out, 0, static_cast<std::size_t>(layout::scale_bytes(rows, k)), s);
  const std::int64_t groups = layout::ceil_div(k, layout::scale_group);
  scales<<<blocks_for(rows * groups), threads, 0, s>>>(out, rows, groups, k, stream_id);
}

}  // namespace servecast::microbench::cuda
