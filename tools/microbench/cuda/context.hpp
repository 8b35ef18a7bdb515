// What measurements share: the device, a stream, memory that is freed at the end of a scope, and timing.
#pragma once

#include "microbench/cuda/cuda_error.hpp"
#include "microbench/cuda/nvml.hpp"
#include "microbench/host/device.hpp"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace servecast::microbench::cuda {

// Device memory of `count` elements; not initialised.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(count) * sizeof(T)), "cudaMalloc");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return data_; }
  std::int64_t count() const { return count_; }
  void zero() const {
    check(cudaMemset(data_, 0, static_cast<std::size_t>(count_) * sizeof(T)), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // other streams do not wait for it
  }
  void put(const std::vector<T>& from) const {
    check(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
    check(cudaStreamSynchronize(nullptr), "copy to the device");  // as above: small copies may still be on their way
  }
  // Elements [first, first + count), after all work in flight.
  std::vector<T> get(std::int64_t first, std::int64_t count) const {
    std::vector<T> out(static_cast<std::size_t>(count));
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(out.data(), data_ + first, out.size() * sizeof(T), cudaMemcpyDeviceToHost),
          "copy from the device");
    return out;
  }
  T get(std::int64_t at) const { return get(at, 1)[0]; }

 private:
  T* data_ = nullptr;
  std::int64_t count_ = 0;
};

struct Context {
  int device = 0;
  DeviceInfo info;
  cudaStream_t stream = nullptr;
  std::unique_ptr<Buffer<std::uint32_t>> flush;  // twice the L2 cache
  Nvml nvml;

  int sms() const { return static_cast<int>(info.sms); }
  int blocks() const { return static_cast<int>(info.sms) * 4; }  // of streaming kernels: enough loads in flight
};

using Launch = std::function<void(cudaStream_t)>;

// Samples in us of one launch, and clocks. Warm: many launches in a graph between two events, so that neither launching
// nor the events weigh; cold: the L2 cache is overwritten before each, outside the events. The launch may be captured.
void time_launch(Context& c, const Launch& launch, const Timing& timing, Outcome& out);

// us to the unit of a rate: bytes a us are MB/s, so thousands of them GB/s.
void to_gb_per_s(double bytes, Outcome& out);

Outcome refused(std::string why);

}  // namespace servecast::microbench::cuda
