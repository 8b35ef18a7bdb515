#include "microbench/host/grids.hpp"

namespace servecast::microbench {

namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

void sizes(std::vector<Point>& out, Quantity q, std::int64_t from, std::int64_t to, std::int64_t factor,
           std::int64_t detail = 0) {
  for (std::int64_t bytes = from; bytes <= to; bytes *= factor) out.push_back(Machine{q, bytes, detail});
}

}  // namespace

std::vector<Point> hbm_grid(bool quick) {
  std::vector<Point> out;
  for (const Quantity q : {Quantity::HbmRead, Quantity::HbmWrite, Quantity::HbmCopy})
    sizes(out, q, mib, 4096 * mib, quick ? 16 : 2);
  return out;
}

std::vector<Point> l2_grid(const DeviceInfo& d, bool quick) {
  std::vector<Point> out;
  sizes(out, Quantity::ChaseLatency, 64 * kib, 1024 * mib, quick ? 16 : 2);
  // Streaming again and again over a part of the cache: an eighth of it to twice of it.
  for (const std::int64_t eighths : {1, 2, 4, 6, 8, 16})
    out.push_back(Machine{Quantity::L2Read, d.l2_bytes / 8 * eighths / mib * mib + mib, 0});
  for (const std::int64_t group : {0, 1})
    for (const Quantity q : {Quantity::SmGroups, Quantity::L2NearLatency, Quantity::L2FarLatency, Quantity::L2NearRead,
                             Quantity::L2FarRead})
      out.push_back(Machine{q, 0, group});
  return out;
}

std::vector<Point> launch_grid() {
  std::vector<Point> out = {Machine{Quantity::LaunchInterval, 0, 0}, Machine{Quantity::LaunchRoundTrip, 0, 0}};
  for (const std::int64_t kernels : {1, 16, 256, 1024}) {
    out.push_back(Machine{Quantity::GraphLaunch, 0, kernels});
    out.push_back(Machine{Quantity::GraphKernel, 0, kernels});
  }
  return out;
}

std::vector<Point> copy_grid(bool quick) {
  std::vector<Point> out;
  for (const Quantity q : {Quantity::HostToDevice, Quantity::DeviceToHost})
    sizes(out, q, 4 * kib, 1024 * mib, quick ? 64 : 4);
  return out;
}

std::vector<Point> peer_grid(const DeviceInfo& d, bool quick) {
  std::vector<Point> out;
  for (std::int64_t peer = 1; peer < d.gpus; ++peer)
    sizes(out, Quantity::PeerCopy, 4 * kib, 1024 * mib, quick ? 64 : 4, peer);
  return out;
}

std::vector<Point> power_grid() {
  return {Machine{Quantity::IdlePower, 0, 0}, Machine{Quantity::HbmPower, 4096 * mib, 0},
          Machine{Quantity::GemmPower, 0, 8192}};
}

}  // namespace servecast::microbench
