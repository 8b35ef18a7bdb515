// The scheduler step by step and request by request, over a real block pool: the engine every other one must equal to
// the bit, and the fallback where a policy or a cost needs per-request state (attention windows, several partial
// prefills), or where groups of layers share a
// pool (Config::kinds). One step costs O(batch).
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>

namespace servecast::engine {

// shared_content: requests may share prefixes; where groups of layers share a pool, false is faster.
std::unique_ptr<Replica> make_plain_loop(const Config& config, const cost::StepCost& cost, Observer& observer,
                                         bool shared_content = true);

}  // namespace servecast::engine
