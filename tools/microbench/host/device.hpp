// What measures points: a GPU through CUDA (cuda/), or a made-up one for tests (fake_device.hpp). An implementation
// warms up, checks the result against a host reference before it times anything, and gives one sample per repeat.
#pragma once

#include "microbench/host/points.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace servecast::microbench {

// There is no device that could measure; the message says why and what to do.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct DeviceInfo {
  std::string name;    // as the driver says it, without commas
  std::string driver;  // driver, runtime and library versions, without commas
  std::string nccl;    // version, empty: not there
  std::int32_t major = 0, minor = 0;
  std::int64_t sms = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;  // free when the program started
  std::int32_t gpus = 1;          // visible, the measured one included
  bool tensor_fp8 = false, tensor_fp4 = false;
  bool nvml = false;
};

struct Timing {
  std::int64_t repeats = 9;  // samples
  bool cold = false;         // the L2 cache is overwritten before each sample
};

// Means over the timed part; NaN where nothing could be read.
struct Clocks {
  double sm_mhz = 0;
  double memory_mhz = 0;
  double power_w = 0;
};

struct Outcome {
  std::vector<double> samples;  // in the row's unit: us for kernels
  std::string kernel_source;    // "cublaslt", or "servecast_..." for kernels of this folder
  Clocks clocks;
  std::string refused;  // why this device cannot measure the point: no row
  std::string wrong;    // how the result differed from the reference: no row, and the program fails in the end
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Outcome measure(const Point& point, const Timing& timing) = 0;
};

// Opens the device of a number, or throws NoDevice.
using OpenDevice = std::function<std::unique_ptr<Device>(std::int32_t number)>;

}  // namespace servecast::microbench
