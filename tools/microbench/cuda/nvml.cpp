#include "microbench/cuda/nvml.hpp"

#include <dlfcn.h>
#include <limits>
#include <utility>

namespace servecast::microbench::cuda {

namespace {

// NVML API reference: nvmlReturn_t 0 is success; nvmlClockType_t 1 is the SM clock, 2 the memory clock.
constexpr unsigned sm_clock = 1;
constexpr unsigned memory_clock = 2;

template <class Function>
Function* found(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

double clock_mhz(void* library, void* device, unsigned type) {
  unsigned mhz = 0;
  auto* get = found<int(void*, unsigned, unsigned*)>(library, "nvmlDeviceGetClockInfo");
  return get != nullptr && get(device, type, &mhz) == 0 ? mhz : std::numeric_limits<double>::quiet_NaN();
}

double power_w(void* library, void* device) {
  unsigned mw = 0;
  auto* get = found<int(void*, unsigned*)>(library, "nvmlDeviceGetPowerUsage");
  return get != nullptr && get(device, &mw) == 0 ? mw / 1e3 : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Nvml::Nvml(const std::string& bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) return;
  auto* start = found<int()>(library_, "nvmlInit_v2");
  auto* by_bus = found<int(const char*, void**)>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  if (start == nullptr || by_bus == nullptr || start() != 0 || by_bus(bus_id.c_str(), &device_) != 0) device_ = nullptr;
}

// The library stays initialised until the process ends.
Nvml::~Nvml() {
  if (library_ != nullptr) dlclose(library_);
}

Nvml::Nvml(Nvml&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)), device_(std::exchange(other.device_, nullptr)) {}

Nvml& Nvml::operator=(Nvml&& other) noexcept {
  std::swap(library_, other.library_);
  std::swap(device_, other.device_);
  return *this;
}

Clocks Nvml::read() const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!there()) return {unknown, unknown, unknown};
  return {clock_mhz(library_, device_, sm_clock), clock_mhz(library_, device_, memory_clock),
          power_w(library_, device_)};
}

std::string Nvml::driver() const {
  char text[96] = {};
  auto* get = library_ == nullptr ? nullptr : found<int(char*, unsigned)>(library_, "nvmlSystemGetDriverVersion");
  return get != nullptr && get(text, sizeof text) == 0 ? std::string(text) : std::string();
}

}  // namespace servecast::microbench::cuda
