// Plausibility of a GPU's numbers against each other: what catches a sparse peak in the place of a dense one, a peak of
// half a chip, or a memory rate that its bus does not give.
#pragma once

#include "hardware/gpu.hpp"

namespace servecast::hardware {

// Dense peaks against sparse ones, against what an SM of the architecture does per clock, and against each other.
void check_peaks(const Gpu& g, const Complain& complain);
// The memory rate against bus width and data rate, capacities in order.
void check_memory(const Gpu& g, const Complain& complain);

}  // namespace servecast::hardware
