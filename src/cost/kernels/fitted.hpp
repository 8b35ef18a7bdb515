// One fitted kernel family in one format: parameters of its physics (per head size where that matters) and the residual
// surfaces. Time = physics(theta; shape, machine) * exp(sum of the surfaces that apply). Pure; about 100 ns a call.
#pragma once

#include "cost/kernels/family.hpp"
#include "cost/kernels/physics.hpp"
#include "cost/kernels/surface.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::cost::kernels {

// Median and 90th percentile of |predicted / measured - 1|.
struct Score {
  std::int64_t rows = 0;
  double median = 0;
  double p90 = 0;
};

struct Theta {
  std::int32_t head_dim = 0;  // 0: all
  Parameters values{};
};

struct Bounds {
  double min = 0;
  double max = 0;
};

// Rows left out, and why.
struct Dropped {
  std::string reason;
  std::int64_t rows = 0;
};

// As documents hold it.
struct Fit {
  Key key;
  std::int64_t rows = 0;  // after averaging duplicates
  Score in_sample;
  Score cross_validated;                 // on whole key groups the fit did not see
  Score sound_tactics;                   // cross_validated without the rows of slow_curves
  std::vector<Dropped> left_out;         // of the fit; cross-validation scores them
  std::vector<std::string> slow_curves;  // MoE curves on a slow tactic of the autotuner
  std::vector<Bounds> measured;          // of each feature
  std::vector<Theta> physics;
  std::vector<SurfaceData> surfaces;
};
void describe(config::Fields& f, Dropped& d);
void describe(config::Fields& f, Score& s);
void describe(config::Fields& f, Fit& fit);

class FittedKernel {
 public:
  FittedKernel(const Fit& fit, const Machine& machine);

  // cold: nothing of the KV cache is in L2.
  Physics physics(const Features& x, bool cold) const;
  double us(const Features& x, bool cold) const;
  double correction(const Features& x) const;  // factor of the surfaces
  bool inside(const Features& x) const;        // every feature within the measured bounds, the head size measured
  const Key& key() const { return key_; }
  std::int64_t rows() const { return rows_; }
  double error() const { return error_; }

 private:
  const Parameters& theta(double head_dim) const;

  Key key_;
  Context context_;
  std::int64_t rows_ = 0;
  double error_ = 0;
  std::vector<Bounds> measured_;
  std::vector<Theta> thetas_;
  std::vector<Surface> surfaces_;
};

}  // namespace servecast::cost::kernels
