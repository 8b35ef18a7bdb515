// A GPU as the host part's Device.
#pragma once

#include "microbench/host/device.hpp"

#include <cstdint>
#include <memory>

namespace servecast::microbench::cuda {

// Throws NoDevice where there is no driver, no GPU, no GPU of that number, or none that the kernels were built for.
std::unique_ptr<Device> open_device(std::int32_t number);

}  // namespace servecast::microbench::cuda
