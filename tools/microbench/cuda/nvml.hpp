// Clocks and power as the management library tells them. It is loaded at run time and may be missing: then every
// reading is NaN. Only four of its functions are used, whose C signatures are stable since its first version.
#pragma once

#include "microbench/host/device.hpp"

#include <string>

namespace servecast::microbench::cuda {

class Nvml {
 public:
  Nvml() = default;
  // bus_id: of the CUDA device, "0000:17:00.0".
  explicit Nvml(const std::string& bus_id);
  ~Nvml();
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&& other) noexcept;

  bool there() const { return device_ != nullptr; }
  Clocks read() const;
  std::string driver() const;  // version, empty if unknown

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace servecast::microbench::cuda
