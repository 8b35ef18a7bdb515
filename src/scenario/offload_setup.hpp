// Cached prefixes below the GPU: what settings, GPU and node say about the tiers, in an engine's configuration, and
// what is missing for them. Which scheduler has which setting is in stack_rules.cpp.
#pragma once

#include "core/error.hpp"
#include "engine/config.hpp"
#include "scenario/build.hpp"
#include "scenario/fit.hpp"

#include <string>

namespace servecast::engine {
struct Totals;
}

namespace servecast::scenario {

void check_offload(const Resolved& r, const FitReport& fit, core::Problems& problems);

// After set_up_groups(). Requires: check_offload() found nothing.
void set_up_offload(const Resolved& r, const FitReport& fit, engine::Config& config);

// Said when a link between the tiers is what requests wait for, with the settings that would ease it; empty: none is.
// sum: over replicas that lived for `life` in all.
std::string narrow_link(const Resolved& r, const engine::Config& config, const engine::Totals& sum,
                        core::Duration life);

}  // namespace servecast::scenario
