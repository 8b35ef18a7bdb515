// What moving and copying blocks adds to an engine's configuration: host memory for swapped blocks, the link to it, how
// requests branch, the time of a block's copy. Only vLLM v0's scheduler has groups of sequences; every other refuses
// them by name.
#pragma once

#include "core/error.hpp"
#include "engine/config.hpp"
#include "scenario/build.hpp"
#include "scenario/fit.hpp"

namespace servecast::scenario {

void check_groups(const Resolved& r, core::Problems& problems);

// Requires: check_groups() found nothing.
void set_up_groups(const Resolved& r, const FitReport& fit, engine::Config& config);

}  // namespace servecast::scenario
