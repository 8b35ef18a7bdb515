// Latencies: of an empty kernel, and of single accesses, a chain of dependent loads, and atomics from every SM in turn.
// Atomics are done where a line has its home, so that copies in the asking SM's own part of L2 (which loads may hit)
// cannot hide the distance.
#include "microbench/cuda/kernels.hpp"

namespace servecast::microbench::cuda {

namespace {

constexpr int words_per_line = line_bytes / 4;
constexpr int chained = 32;  // dependent atomics per line: the one that a clock reading overlaps weighs a thirtieth

__device__ std::uint32_t load_past_l1(const std::uint32_t* p) {
  std::uint32_t v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ std::uint32_t sm_number() {
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}
__device__ std::uint64_t nanoseconds() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

__global__ void spread_kernel(std::uint32_t* lines, const std::uint32_t* next, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) lines[i * words_per_line] = next[i];
}

__global__ void chase_kernel(const std::uint32_t* lines, std::int64_t steps, std::uint32_t* at) {
  std::uint32_t line = *at;
  for (std::int64_t i = 0; i < steps; ++i)
    line = load_past_l1(lines + static_cast<std::int64_t>(line) * words_per_line);
  *at = line;
}

// Cycles per atomic at one line. The words are zero, so each address is the same, but only the last result says so.
__device__ float line_cycles(std::uint32_t* words, std::uint32_t line) {
  std::uint32_t* p = words + static_cast<std::int64_t>(line) * words_per_line;
  p += atomicAdd(p, 0U);  // brings the line into L2
  const long long begin = clock64();
  for (int i = 0; i < chained; ++i) p += atomicAdd(p, 0U);
  const long long end = clock64();
  // never so: keeps the chain
  if (p != words + static_cast<std::int64_t>(line) * words_per_line) return -1;
  return static_cast<float>(end - begin) / chained;
}

__global__ void probe_kernel(std::uint32_t* words, const std::uint32_t* line_of, int count, std::uint32_t* turn,
                             SmProbe* probes, float* cycles) {
  if (threadIdx.x != 0) return;
  volatile std::uint32_t* now = turn;
  while (*now != blockIdx.x) __nanosleep(2000);
  __threadfence();
  const std::uint64_t started = nanoseconds();
  const long long begin = clock64();
  for (int i = 0; i < count; ++i)
    cycles[static_cast<std::int64_t>(blockIdx.x) * count + i] = line_cycles(words, line_of[i]);
  const long long end = clock64();
  probes[blockIdx.x] = {sm_number(), 0, static_cast<std::uint64_t>(end - begin), nanoseconds() - started};
  __threadfence();
  atomicAdd(turn, 1U);
}

// Eight threads a line, 16 bytes each.
__global__ void __launch_bounds__(512)
    read_lines_kernel(const std::uint32_t* words, const std::uint32_t* line_of, int count, const std::uint8_t* sm_group,
                      int group, int passes, std::uint32_t* sum, unsigned long long* bytes) {
  if (sm_group[sm_number()] != group) return;
  const int part = static_cast<int>(threadIdx.x) % 8, first = static_cast<int>(threadIdx.x) / 8;
  std::uint32_t mine = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (int i = first; i < count; i += 512 / 8) {
      const std::uint32_t* p = words + static_cast<std::int64_t>(line_of[i]) * words_per_line + part * 4;
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
      mine += v.x + v.y + v.z + v.w;
    }
  atomicAdd(sum, mine);
  if (threadIdx.x == 0) atomicAdd(bytes, static_cast<unsigned long long>(passes) * count * line_bytes);
}

__global__ void nothing() {}

}  // namespace

void spread_chain(std::uint32_t* lines, const std::uint32_t* next, std::int64_t count, cudaStream_t s) {
  spread_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, s>>>(lines, next, count);
}
void chase(const std::uint32_t* lines, std::int64_t steps, std::uint32_t* at, cudaStream_t s) {
  chase_kernel<<<1, 1, 0, s>>>(lines, steps, at);
}

cudaError_t probe_lines(std::uint32_t* words, const std::uint32_t* line_of, int count, int sms, std::uint32_t* turn,
                        SmProbe* probes, float* cycles, cudaStream_t s) {
  int device = 0, shared = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  // All the shared memory of an SM, so that no two blocks share one.
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(probe_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (error != cudaSuccess) return error;
  void* arguments[] = {&words, &line_of, &count, &turn, &probes, &cycles};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(probe_kernel), dim3(static_cast<unsigned>(sms)),
                                     dim3(32), arguments, static_cast<std::size_t>(shared), s);
}

void read_lines(const std::uint32_t* words, const std::uint32_t* line_of, int count, const std::uint8_t* sm_group,
                int group, int passes, std::uint32_t* sum, unsigned long long* bytes, int blocks, cudaStream_t s) {
  read_lines_kernel<<<blocks, 512, 0, s>>>(words, line_of, count, sm_group, group, passes, sum, bytes);
}

void empty_kernel(cudaStream_t s) { nothing<<<1, 1, 0, s>>>(); }

}  // namespace servecast::microbench::cuda
