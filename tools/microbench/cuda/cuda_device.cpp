#include "microbench/cuda/cuda_device.hpp"

#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"

#include <algorithm>

namespace servecast::microbench::cuda {

namespace {

// mma with bf16 and asynchronous copies need it; the fallback code is compiled for it.
constexpr int least_major = 8;

std::string without_commas(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  return text;
}

void need(cudaError_t error) {
  if (error == cudaSuccess) return;
  const std::string why = error == cudaErrorInsufficientDriver
                              ? "there is no driver, or one older than this program's CUDA"
                              : cudaGetErrorString(error);
  throw NoDevice(
      fmt::format("no CUDA device can be used: {}; run it on a machine with an NVIDIA GPU and its driver", why));
}

std::string versions(const Nvml& nvml) {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  const std::string name = nvml.driver();
  return without_commas(fmt::format("{}{}CUDA {}.{} runtime {}.{}", name, name.empty() ? "" : " ", driver / 1000,
                                    driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10));
}

std::string bus_id(int device) {
  char text[32] = {};
  check(cudaDeviceGetPCIBusId(text, sizeof text, device), "cudaDeviceGetPCIBusId");
  return text;
}

DeviceInfo info_of(const cudaDeviceProp& p, int gpus) {
  DeviceInfo d;
  d.name = without_commas(p.name);
  d.major = p.major, d.minor = p.minor;
  d.sms = p.multiProcessorCount;
  d.l2_bytes = p.l2CacheSize;
  std::size_t available = 0, all = 0;
  check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  d.memory_bytes = static_cast<std::int64_t>(available);
  d.gpus = gpus;
  d.tensor_fp8 = p.major > 8 || (p.major == 8 && p.minor == 9);
  d.tensor_fp4 = p.major >= 10;
  d.nccl = nccl_version();
  return d;
}

class CudaDevice : public Device {
 public:
  CudaDevice(int number, int gpus, const cudaDeviceProp& properties) {
    context_.device = number;
    context_.nvml = Nvml(bus_id(number));
    context_.info = info_of(properties, gpus);
    context_.info.driver = versions(context_.nvml);
    context_.info.nvml = context_.nvml.there();
    check(cudaStreamCreateWithFlags(&context_.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    context_.flush =
        std::make_unique<Buffer<std::uint32_t>>(std::max<std::int64_t>(context_.info.l2_bytes / 2, 1 << 22));
  }
  const DeviceInfo& info() const override { return context_.info; }

  // What fails without harm to the device (memory is short, a launch is not possible) costs one row, not the run.
  Outcome measure(const Point& point, const Timing& timing) override {
    try {
      Outcome out = std::visit([&](const auto& p) { return run(p, timing); }, point);
      check(cudaDeviceSynchronize(), "measurement");
      return out;
    } catch (const core::Error& error) {
      cudaGetLastError();
      if (cudaDeviceSynchronize() != cudaSuccess) throw;
      return refused(error.what());
    }
  }

 private:
  Products& products() {
    if (!products_) products_ = std::make_unique<Products>(context_);
    return *products_;
  }
  Outcome run(const Gemm& g, const Timing& t) { return products().measure(g, t); }
  Outcome run(const Attention& a, const Timing& t) { return measure_attention(context_, a, t); }
  Outcome run(const Quantise& q, const Timing& t) { return measure_quantise(context_, q, t); }
  Outcome run(const Experts& e, const Timing& t) { return measure_experts(context_, e, t); }
  Outcome run(const Collective& p, const Timing& t) { return measure_collective(context_, p, t); }
  Outcome run(const Machine& m, const Timing& t) {
    switch (m.quantity) {
      case Quantity::HbmRead:
      case Quantity::HbmWrite:
      case Quantity::HbmCopy:
      case Quantity::L2Read: return measure_streams(context_, m, t);
      case Quantity::ChaseLatency: return measure_chase(context_, m, t);
      case Quantity::SmGroups:
      case Quantity::L2NearLatency:
      case Quantity::L2FarLatency:
      case Quantity::L2NearRead:
      case Quantity::L2FarRead: return far_side_.measure(context_, m, t);
      case Quantity::LaunchInterval:
      case Quantity::LaunchRoundTrip:
      case Quantity::GraphLaunch:
      case Quantity::GraphKernel: return measure_launches(context_, m, t);
      case Quantity::HostToDevice:
      case Quantity::DeviceToHost:
      case Quantity::PeerCopy: return measure_copies(context_, m, t);
      case Quantity::Nvfp4Dequantise: return measure_dequantise(context_, m, t);
      case Quantity::IdlePower:
      case Quantity::HbmPower:
      case Quantity::GemmPower: return products().measure_power(m, t);
    }
    return refused("not known");
  }

  Context context_;
  FarSide far_side_;
  std::unique_ptr<Products> products_;
};

}  // namespace

std::unique_ptr<Device> open_device(std::int32_t number) {
  int gpus = 0;
  need(cudaGetDeviceCount(&gpus));
  if (gpus == 0) throw NoDevice("no CUDA device was found; run it on a machine with an NVIDIA GPU and its driver");
  if (number >= gpus)
    throw NoDevice(fmt::format("there is no device {}: {} GPUs are visible, numbered from 0", number, gpus));
  cudaDeviceProp properties{};
  need(cudaGetDeviceProperties(&properties, number));
  if (properties.major < least_major)
    throw NoDevice(fmt::format("{} has compute capability {}.{}; {}.0 or later is needed", properties.name,
                               properties.major, properties.minor, least_major));
  need(cudaSetDevice(number));
  return std::make_unique<CudaDevice>(number, gpus, properties);
}

}  // namespace servecast::microbench::cuda
