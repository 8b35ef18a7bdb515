// What a dynamic precision policy came to: formats by block, memory and speed, beside what one format for all blocks
// would give.
#pragma once

#include "metrics/precision_use.hpp"
#include "scenario/build.hpp"

#include <cstddef>
#include <optional>

namespace servecast::scenario {

// Nothing unless the pool's policy is dynamic. The step is one of up to 64 decoding sequences at the scenario's mean
// request length; without `speed` no cost model is made and steps are absent. Requires: the pool fits where speed is
// asked for.
std::optional<metrics::PrecisionUse> precision_use(const Resolved& r, std::size_t pool, bool speed);

}  // namespace servecast::scenario
