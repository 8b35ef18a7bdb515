// One function per kind of point: prepares inputs, checks the result against the host, times. Each in a file of its
// own.
#pragma once

#include "microbench/cuda/context.hpp"
#include "microbench/host/points.hpp"
#include "microbench/host/sm_groups.hpp"

#include <memory>
#include <optional>
#include <string>

namespace servecast::microbench::cuda {

Outcome measure_streams(Context& c, const Machine& m, const Timing& t);  // hbm_read, hbm_write, hbm_copy, l2_read
Outcome measure_chase(Context& c, const Machine& m, const Timing& t);
Outcome measure_launches(Context& c, const Machine& m, const Timing& t);
Outcome measure_copies(Context& c, const Machine& m, const Timing& t);  // host_to_device, device_to_host, peer_copy
Outcome measure_attention(Context& c, const Attention& a, const Timing& t);
Outcome measure_quantise(Context& c, const Quantise& q, const Timing& t);
Outcome measure_dequantise(Context& c, const Machine& m, const Timing& t);
Outcome measure_experts(Context& c, const Experts& e, const Timing& t);

// Which SMs and lines are near to each other; found once.
class FarSide {
 public:
  Outcome measure(Context& c, const Machine& m, const Timing& t);

 private:
  void discover(Context& c);
  void classify(Context& c);
  Outcome groups(const Machine& m, const Timing& t) const;
  Outcome latency(const Machine& m, const Timing& t) const;
  Outcome bandwidth(Context& c, const Machine& m, const Timing& t);

  bool known_ = false;
  SmGroups found_;
  std::vector<std::uint32_t> sm_of_row_;      // hardware number of each probed SM
  std::vector<std::vector<double>> ns_;       // [row][line]
  std::vector<std::uint32_t> near_lines_[2];  // lines of the streamed buffer, by the group they are near to
};

// cuBLASLt: keeps its handle and workspace.
class Products {
 public:
  explicit Products(Context& c);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  Outcome measure(const Gemm& g, const Timing& t);
  // Samples of power in W while a square product runs without a break, or memory is copied, or nothing happens.
  Outcome measure_power(const Machine& m, const Timing& t);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// NCCL, one process for all GPUs. nccl.cpp, or nccl_absent.cpp where the library was not there to build with.
std::string nccl_version();  // empty: absent
Outcome measure_collective(Context& c, const Collective& p, const Timing& t);

}  // namespace servecast::microbench::cuda
