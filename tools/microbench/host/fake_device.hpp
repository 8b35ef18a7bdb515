// A made-up device that takes what a roofline says, with two percent of noise: it drives everything but CUDA in tests.
// Deterministic in seed and point. Its name says that nothing was measured.
#pragma once

#include "microbench/host/device.hpp"

#include <cstdint>

namespace servecast::microbench {

struct FakeRates {
  double bytes_per_us = 6e6;  // device memory
  double l2_bytes_per_us = 12e6;
  double bf16_per_us = 1.6e9;  // FLOP; fp8 twice, nvfp4 four times that
  double launch_us = 3;
  double noise = 0.02;  // of each sample, uniform, either way
};

class FakeDevice : public Device {
 public:
  explicit FakeDevice(std::uint64_t seed, FakeRates rates = {}, DeviceInfo device = fake_info());
  const DeviceInfo& info() const override { return info_; }
  Outcome measure(const Point& point, const Timing& timing) override;
  // Like a B200 with eight of its kind.
  static DeviceInfo fake_info();

 private:
  std::uint64_t seed_;
  FakeRates rates_;
  DeviceInfo info_;
};

}  // namespace servecast::microbench
