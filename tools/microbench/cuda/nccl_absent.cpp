// Stands in for nccl.cpp where NCCL was not there to build with.
#include "microbench/cuda/measures.hpp"

namespace servecast::microbench::cuda {

std::string nccl_version() { return ""; }
Outcome measure_collective(Context&, const Collective&, const Timing&) { return refused("built without NCCL"); }

}  // namespace servecast::microbench::cuda
