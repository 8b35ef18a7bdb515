// Makes a fitted GEMM non-decreasing in rows and width for schedulers that rely on it: isotonic regression of the
// logarithm of the time at the knots, along rows, then along width. Never a running maximum, which biases. The surface
// of unaligned rows is left alone.
#pragma once

#include "cost/kernels/fitted.hpp"

#include <vector>

namespace servecast::cost::kernels {

// Least-squares non-decreasing sequence (pool adjacent violators).
void isotonic(std::vector<double>& values);

// Requires: fit.key.family == Family::Gemm.
void make_monotone(Fit& fit, const Machine& machine);

}  // namespace servecast::cost::kernels
