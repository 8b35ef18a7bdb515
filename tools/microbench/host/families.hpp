// The families that --only names, and the points of each: the calibration grids. A grid covers the knots of the fitted
// forms (docs/models/kernels.md); --quick keeps enough rows of each format to fit. No point appears twice, and every
// point's buffers fit into the memory of the device.
#pragma once

#include "microbench/host/device.hpp"
#include "microbench/host/points.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace servecast::microbench {

enum class FamilyId : std::uint8_t {
  Hbm,
  L2,
  Launch,
  Copy,
  Peer,
  Power,
  Gemm,
  Decode,
  Prefill,
  Verify,
  Quantise,
  Moe,
  Nccl
};

struct FamilyText {
  std::string_view name;
  std::string_view measures;
};
// In the order of FamilyId, which is the order of measuring.
std::span<const FamilyText> families();

// Bytes of device memory that measuring a point takes, at most.
std::int64_t bytes_needed(const Point& point);
// Points of a family on this device: what does not fit into its memory, or needs more GPUs, is left out.
std::vector<Point> points_of(FamilyId family, const DeviceInfo& device, bool quick);

}  // namespace servecast::microbench
