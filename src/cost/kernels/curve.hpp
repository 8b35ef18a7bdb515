// Measured curves of a collective: time against message size for one number of GPUs, interpolated log-log in size and
// geometrically in log2 of the number of GPUs, so t(4) = sqrt(t(2) t(8)). Outside the sizes: the first time below, the
// last bandwidth above. Never beyond the largest measured number of GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::cost::kernels {

struct Curve {
  std::string op;    // all_reduce, all_gather, reduce_scatter, alltoall
  std::string mode;  // graph, eager (the engine's own), nccl
  std::int32_t ranks = 2;
  std::vector<double> bytes;  // ascending
  std::vector<double> us;
};
void describe(config::Fields& f, Curve& c);

struct CurveTime {
  double us = 0;
  bool interpolated = false;  // between numbers of GPUs
  bool outside = false;       // of the measured sizes
};

// All curves of one operation and mode.
class CurveSet {
 public:
  CurveSet(std::string op, std::string mode) : op_(std::move(op)), mode_(std::move(mode)) {}
  void add(const Curve& c);
  const std::string& op() const { return op_; }
  const std::string& mode() const { return mode_; }
  // False when ranks lie outside the measured numbers of GPUs.
  bool time(double bytes, std::int32_t ranks, CurveTime& out) const;

 private:
  struct One {
    std::int32_t ranks = 0;
    std::vector<double> log_bytes;
    std::vector<double> log_us;
  };
  static double log_time(const One& c, double log_bytes);

  std::string op_;
  std::string mode_;
  std::vector<One> curves_;  // ascending by ranks
};

}  // namespace servecast::cost::kernels
