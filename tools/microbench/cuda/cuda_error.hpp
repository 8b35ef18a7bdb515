// Errors of CUDA calls as core::Error, with what was tried. Kernel launches report through check_launch().
#pragma once

#include "core/error.hpp"

#include <fmt/format.h>

#include <cuda_runtime_api.h>
#include <string_view>

namespace servecast::microbench::cuda {

inline void check(cudaError_t error, std::string_view what) {
  if (error != cudaSuccess)
    throw core::Error(fmt::format("{} failed: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}
inline void check_launch(std::string_view what) { check(cudaGetLastError(), what); }

}  // namespace servecast::microbench::cuda
