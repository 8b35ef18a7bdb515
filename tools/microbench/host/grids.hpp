// The grid of each family before memory limits. Sizes are those of served models and of the knots of the fitted forms.
#pragma once

#include "microbench/host/device.hpp"
#include "microbench/host/points.hpp"

#include <vector>

namespace servecast::microbench {

std::vector<Point> gemm_grid(const DeviceInfo& d, bool quick);
std::vector<Point> decode_grid(bool quick);
std::vector<Point> prefill_grid(bool quick);
std::vector<Point> verify_grid(bool quick);
std::vector<Point> quantise_grid(bool quick);
std::vector<Point> moe_grid(bool quick);
std::vector<Point> nccl_grid(const DeviceInfo& d, bool quick);
std::vector<Point> hbm_grid(bool quick);
std::vector<Point> l2_grid(const DeviceInfo& d, bool quick);
std::vector<Point> launch_grid();
std::vector<Point> copy_grid(bool quick);
std::vector<Point> peer_grid(const DeviceInfo& d, bool quick);
std::vector<Point> power_grid();

}  // namespace servecast::microbench
