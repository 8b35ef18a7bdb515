#include "microbench/host/families.hpp"

#include "microbench/host/grids.hpp"

#include <algorithm>

namespace servecast::microbench {

namespace {

constexpr FamilyText texts[] = {
    {"hbm", "read, write and copy bandwidth of the device memory by size"},
    {"l2", "latency and bandwidth of the L2 cache: near and far part, SM groups, by working set"},
    {"launch", "kernel launches, round trips, replay of CUDA graphs"},
    {"copy", "host to device and back, pinned memory, by size"},
    {"peer", "copies between GPUs by size"},
    {"power", "idle, memory-bound and compute-bound power with clocks (needs NVML)"},
    {"gemm", "matrix products of cuBLASLt in bf16, fp8 and, where there is hardware, nvfp4"},
    {"decode", "attention of one new token per sequence over a paged KV cache"},
    {"prefill", "causal attention of whole prompts over a paged KV cache"},
    {"verify", "attention of several new tokens per sequence (speculative verification)"},
    {"quantise", "bf16 to fp8 and nvfp4: scale search and scaling pass; nvfp4 back to bf16"},
    {"moe", "routed experts: permute, grouped products, unpermute"},
    {"nccl", "all-reduce and all-to-all between GPUs"}};

std::vector<Point> grid(FamilyId family, const DeviceInfo& d, bool quick) {
  switch (family) {
    case FamilyId::Hbm: return hbm_grid(quick);
    case FamilyId::L2: return l2_grid(d, quick);
    case FamilyId::Launch: return launch_grid();
    case FamilyId::Copy: return copy_grid(quick);
    case FamilyId::Peer: return peer_grid(d, quick);
    case FamilyId::Power: return power_grid();
    case FamilyId::Gemm: return gemm_grid(d, quick);
    case FamilyId::Decode: return decode_grid(quick);
    case FamilyId::Prefill: return prefill_grid(quick);
    case FamilyId::Verify: return verify_grid(quick);
    case FamilyId::Quantise: return quantise_grid(quick);
    case FamilyId::Moe: return moe_grid(quick);
    case FamilyId::Nccl: return nccl_grid(d, quick);
  }
  return {};
}

}  // namespace

std::span<const FamilyText> families() { return texts; }

std::vector<Point> points_of(FamilyId family, const DeviceInfo& device, bool quick) {
  // A tenth of the memory stays free: libraries keep workspaces, and the flush buffer is two L2 caches.
  const std::int64_t room = device.memory_bytes / 10 * 9 - 2 * device.l2_bytes;
  std::vector<Point> points = grid(family, device, quick);
  std::erase_if(points, [room](const Point& p) { return bytes_needed(p) > room; });
  return points;
}

}  // namespace servecast::microbench
