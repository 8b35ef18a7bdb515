// bf16 to FP8 (one scale per tensor) and NVFP4 (an E4M3 scale per 16 elements under one FP32 scale), and back. The
// hardware's conversions where the code was compiled for them; the order of operations is codecs.hpp's, so that host
// and device agree in every bit.
#include "microbench/cuda/kernels.hpp"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"

#include <cuda_fp4.h>
#include <cuda_fp8.h>

namespace servecast::microbench::cuda {

namespace {

constexpr int threads = 256;

__device__ float largest_of_word(std::uint32_t word, float so_far) {
  const float low = fabsf(codec::bf16_to_float(static_cast<std::uint16_t>(word & 0xffffU)));
  const float high = fabsf(codec::bf16_to_float(static_cast<std::uint16_t>(word >> 16)));
  return fmaxf(so_far, fmaxf(low, high));
}

__device__ float largest_of(const uint4& v, float so_far) {
  return largest_of_word(v.w, largest_of_word(v.z, largest_of_word(v.y, largest_of_word(v.x, so_far))));
}

__device__ float element(const uint4& v, int i) {
  const std::uint32_t word = i < 4 ? (i < 2 ? v.x : v.y) : (i < 6 ? v.z : v.w);
  return codec::bf16_to_float(static_cast<std::uint16_t>(i % 2 == 0 ? word & 0xffffU : word >> 16));
}

__device__ std::uint8_t e4m3(float x) {
  return static_cast<std::uint8_t>(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3));
}

// Eight elements at a time. Magnitudes are not negative, so their bits order as they do.
__global__ void __launch_bounds__(threads) largest_kernel(const uint4* in, std::int64_t pieces, unsigned int* largest) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  float most = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < pieces; i += step)
    most = largest_of(in[i], most);
  for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, lanes));
  if (threadIdx.x % 32 == 0) atomicMax(largest, __float_as_uint(most));
}

__global__ void __launch_bounds__(threads)
    fp8_kernel(const uint4* in, std::int64_t pieces, const float* largest, uint2* out) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  const float scale = __fdiv_rn(*largest, 448.0F);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < pieces; i += step) {
    const uint4 v = in[i];
    std::uint32_t words[2] = {0, 0};
    for (int e = 0; e < 8; ++e)
      words[e / 4] |= static_cast<std::uint32_t>(e4m3(scale > 0 ? __fdiv_rn(element(v, e), scale) : 0.0F))
                      << (e % 4 * 8);
    out[i] = make_uint2(words[0], words[1]);
  }
}

// One thread a block of 16 elements: 32 bytes in, 8 bytes and a scale out.
__global__ void __launch_bounds__(threads) nvfp4_kernel(const uint4* in, std::int64_t rows, std::int64_t width,
                                                        const float* largest, uint2* out, std::uint8_t* scales) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads, groups = width / layout::scale_group;
  const float tensor = __fdiv_rn(*largest, 2688.0F);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows * groups; i += step) {
    const uint4 v[2] = {in[i * 2], in[i * 2 + 1]};
    const float block = largest_of(v[1], largest_of(v[0], 0));
    const std::uint8_t scale = tensor > 0 ? e4m3(__fdiv_rn(__fdiv_rn(block, 6.0F), tensor)) : std::uint8_t{0};
    const float unit = __fmul_rn(codec::e4m3_to_float(scale), tensor);
    std::uint32_t words[2] = {0, 0};
    for (int e = 0; e < 16; e += 2) {
      float2 pair = make_float2(element(v[e / 8], e % 8), element(v[e / 8], e % 8 + 1));
      pair.x = unit > 0 ? __fdiv_rn(pair.x, unit) : 0.0F;
      pair.y = unit > 0 ? __fdiv_rn(pair.y, unit) : 0.0F;
      words[e / 8] |= static_cast<std::uint32_t>(__nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest))
                      << (e % 8 * 4);
    }
    out[i] = make_uint2(words[0], words[1]);
    scales[layout::scale_offset(i / groups, i % groups, width)] = scale;
  }
}

__global__ void __launch_bounds__(threads)
    dequantise_kernel(const uint2* in, const std::uint8_t* scales, std::int64_t rows, std::int64_t width,
                      const float* largest, uint4* out) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads, groups = width / layout::scale_group;
  const float tensor = __fdiv_rn(*largest, 2688.0F);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows * groups; i += step) {
    const uint2 v = in[i];
    const float unit =
        __fmul_rn(codec::e4m3_to_float(scales[layout::scale_offset(i / groups, i % groups, width)]), tensor);
    std::uint32_t words[8];
    for (int w = 0; w < 8; ++w) {
      const std::uint32_t codes = (w < 4 ? v.x : v.y) >> (w % 4 * 8);
      const float low = __fmul_rn(codec::e2m1_to_float(static_cast<std::uint8_t>(codes & 15U)), unit);
      const float high = __fmul_rn(codec::e2m1_to_float(static_cast<std::uint8_t>(codes >> 4 & 15U)), unit);
      words[w] = codec::float_to_bf16(low) | static_cast<std::uint32_t>(codec::float_to_bf16(high)) << 16;
    }
    out[i * 2] = make_uint4(words[0], words[1], words[2], words[3]);
    out[i * 2 + 1] = make_uint4(words[4], words[5], words[6], words[7]);
  }
}

// Bit 0: e4m3, bit 1: e2m1.
__global__ void conversions_kernel(int* out) {
  int known = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  known |= 1;
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
  known |= 2;
#endif
  *out = known;
}

int conversions() {
  int* out = nullptr;
  int known = 0;
  if (cudaMalloc(&out, sizeof(int)) != cudaSuccess) return 0;
  conversions_kernel<<<1, 1>>>(out);
  if (cudaMemcpy(&known, out, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) known = 0;
  cudaFree(out);
  return known;
}

}  // namespace

bool converts_in_hardware_fp8() { return (conversions() & 1) != 0; }
bool converts_in_hardware_fp4() { return (conversions() & 2) != 0; }

void find_largest(const std::uint16_t* in, std::int64_t count, float* largest, int blocks, cudaStream_t s) {
  cudaMemsetAsync(largest, 0, sizeof(float), s);
  largest_kernel<<<blocks, threads, 0, s>>>(reinterpret_cast<const uint4*>(in), count / 8,
                                            reinterpret_cast<unsigned int*>(largest));
}
void scale_to_fp8(const std::uint16_t* in, std::int64_t count, const float* largest, std::uint8_t* out, int blocks,
                  cudaStream_t s) {
  fp8_kernel<<<blocks, threads, 0, s>>>(reinterpret_cast<const uint4*>(in), count / 8, largest,
                                        reinterpret_cast<uint2*>(out));
}
void scale_to_nvfp4(const std::uint16_t* in, std::int64_t rows, std::int64_t width, const float* largest,
                    std::uint8_t* out, std::uint8_t* scales, int blocks, cudaStream_t s) {
  nvfp4_kernel<<<blocks, threads, 0, s>>>(reinterpret_cast<const uint4*>(in), rows, width, largest,
                                          reinterpret_cast<uint2*>(out), scales);
}
void nvfp4_to_bf16(const std::uint8_t* in, const std::uint8_t* scales, std::int64_t rows, std::int64_t width,
                   const float* largest, std::uint16_t* out, int blocks, cudaStream_t s) {
  dequantise_kernel<<<blocks, threads, 0, s>>>(reinterpret_cast<const uint2*>(in), scales, rows, width, largest,
                                               reinterpret_cast<uint4*>(out));
}

}  // namespace servecast::microbench::cuda
