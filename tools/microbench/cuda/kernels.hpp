// What the .cu files offer: plain launches into a stream, no allocation, no waiting. Pointers are device memory; sizes
// are elements unless named bytes; every function may be captured into a graph. Errors of a launch are found by the
// caller's next check (cuda_error.hpp).
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>

namespace servecast::microbench::cuda {

// ---- fill.cu: contents of values.hpp
void fill_bf16(std::uint16_t* out, std::int64_t count, std::uint64_t stream_id, cudaStream_t s);
void fill_e4m3(std::uint8_t* out, std::int64_t count, std::uint64_t stream_id, cudaStream_t s);
void fill_e2m1(std::uint8_t* out, std::int64_t pairs, std::uint64_t stream_id, cudaStream_t s);
// E4M3 block scales of rows x k elements in the tiled layout (layouts.hpp); padding is zero.
void fill_scales(std::uint8_t* out, std::int64_t rows, std::int64_t k, std::uint64_t stream_id, cudaStream_t s);
void fill_words(std::uint32_t* out, std::int64_t count, cudaStream_t s);              // word i holds i
void fill_integers(std::uint16_t* out, std::int64_t count, int add, cudaStream_t s);  // bf16 of i % 7 + add

// ---- memory.cu
// Adds all 32-bit words, `passes` times, to *sum; bypasses L1. bytes: a multiple of 16.
void read_words(const void* in, std::int64_t bytes, int passes, std::uint32_t* sum, int blocks, cudaStream_t s);
void write_words(void* out, std::int64_t bytes, std::uint32_t value, int blocks, cudaStream_t s);
void copy_words(void* out, const void* in, std::int64_t bytes, int blocks, cudaStream_t s);

// ---- latency.cu
inline constexpr int line_bytes = 128;
// next[i] into the first word of line i.
void spread_chain(std::uint32_t* lines, const std::uint32_t* next, std::int64_t count, cudaStream_t s);
// Follows the chain from line *at, which becomes the line it ends at: the next call goes on from there, to lines that
// were not visited before.
void chase(const std::uint32_t* lines, std::int64_t steps, std::uint32_t* at, cudaStream_t s);
struct SmProbe {
  std::uint32_t sm;  // hardware number
  std::uint32_t unused;
  std::uint64_t cycles;       // of the whole probe, with
  std::uint64_t nanoseconds;  // its time
};
// One block per SM, one after another: cycles of an atomic at each line, [sms][count], in the order of blocks. Needs a
// cooperative launch; turn must be zero. lines: words, one per probed line, all zero.
cudaError_t probe_lines(std::uint32_t* words, const std::uint32_t* line_of, int count, int sms, std::uint32_t* turn,
                        SmProbe* probes, float* cycles, cudaStream_t s);
// Blocks whose SM is in the group read the listed lines `passes` times; bytes read are added to *bytes, sums to *sum.
void read_lines(const std::uint32_t* words, const std::uint32_t* line_of, int count, const std::uint8_t* sm_group,
                int group, int passes, std::uint32_t* sum, unsigned long long* bytes, int blocks, cudaStream_t s);

void empty_kernel(cudaStream_t s);

// ---- attention.cu
struct AttentionArguments {
  const std::uint16_t* q;  // bf16, [batch][queries][heads][dim]
  const void* k;           // bf16 or e4m3, paged (layouts.hpp)
  const void* v;
  const std::int32_t* block_table;  // [batch][blocks per sequence]
  std::uint16_t* out;               // bf16, as q
  float* partial;                   // [splits][batch][kv heads][rows][dim + 2]; used if splits > 1
  std::int32_t batch, queries, cached, heads, kv_heads, head_dim;
  std::int32_t blocks_per_sequence;
  std::int32_t splits;
  bool fp8;
};
// Requires: head_dim 64 or 128; heads a multiple of kv_heads; prompts (cached 0) only in bf16 and without splits.
void attention(const AttentionArguments& a, cudaStream_t s);
// Thread blocks before splitting.
std::int64_t attention_units(const AttentionArguments& a);

// ---- quantise.cu
bool converts_in_hardware_fp8();  // what the code that this device runs was compiled to
bool converts_in_hardware_fp4();
void find_largest(const std::uint16_t* in, std::int64_t count, float* largest, int blocks,
                  cudaStream_t s);  // zeroes first
void scale_to_fp8(const std::uint16_t* in, std::int64_t count, const float* largest, std::uint8_t* out, int blocks,
                  cudaStream_t s);
// Two elements per byte, one scale per 16 elements in the tiled layout. width: a multiple of 64.
void scale_to_nvfp4(const std::uint16_t* in, std::int64_t rows, std::int64_t width, const float* largest,
                    std::uint8_t* out, std::uint8_t* scales, int blocks, cudaStream_t s);
void nvfp4_to_bf16(const std::uint8_t* in, const std::uint8_t* scales, std::int64_t rows, std::int64_t width,
                   const float* largest, std::uint16_t* out, int blocks, cudaStream_t s);

// ---- moe.cu
struct MoeArguments {
  const std::uint16_t* tokens;   // bf16 [tokens][hidden]
  const std::int32_t* expert;    // [tokens][top_k], -1: elsewhere
  const std::uint16_t* gate_up;  // [experts][2 inter][hidden]: gate rows, then up rows
  const std::uint16_t* down;     // [experts][hidden][inter]
  std::int32_t* counts;          // [experts]
  std::int32_t* row_begin;       // [experts + 1]
  std::int32_t* tile_begin;      // [experts + 1]
  std::int32_t* filled;          // [experts]
  std::int32_t* row_of;          // [tokens][top_k], -1: elsewhere
  std::uint16_t* permuted;       // [rows][hidden]
  std::uint16_t* wide;           // [rows][2 inter]
  std::uint16_t* active;         // [rows][inter]
  std::uint16_t* narrow;         // [rows][hidden]
  std::uint16_t* out;            // [tokens][hidden]: mean of the copies
  std::int32_t token_count, hidden, inter, top_k, experts, rows;
};
// Requires: hidden and inter multiples of 64.
void experts(const MoeArguments& a, cudaStream_t s);

}  // namespace servecast::microbench::cuda
