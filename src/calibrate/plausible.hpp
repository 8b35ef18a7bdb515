// Limits no kernel can beat: arithmetic at the dense peak, and HBM bandwidth for working sets far beyond the L2 cache.
// Rows that do are errors of measurement or of units.
#pragma once

#include "calibrate/dataset.hpp"

#include <string>

namespace servecast::calibrate {

// Why a row cannot be right, or empty.
std::string implausible(const Key& key, const Observation& row, const cost::kernels::Machine& machine);

}  // namespace servecast::calibrate
