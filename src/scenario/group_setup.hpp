// What moving and copying blocks adds to an engine's configuration: host memory for swapped blocks, the link to it, how
// requests branch, the time of a block's copy. Only vLLM v0's scheduler has groups of sequences and beams; the others
// make several requests of one (engine/fan_out.hpp) and refuse beams by name.
#pragma once

#include "core/error.hpp"
#include "engine/config.hpp"
#include "scenario/build.hpp"
#include "scenario/fit.hpp"

#include <span>

namespace servecast::scenario {

// fits: of each pool.
void check_groups(const Resolved& r, std::span<const FitReport> fits, core::Problems& problems);

// Requires: check_groups() found nothing.
void set_up_groups(const Resolved& r, const FitReport& fit, engine::Config& config);

}  // namespace servecast::scenario
