// The scheduler of plain_loop with steps that cost O(1) instead of O(batch), equal to it to the bit.
//
// Core fact: first come first served, with every decoder inside the token budget, all decoders advance in every step.
// So a decoder's context is its base plus the replica's step counter; finish times sit in a calendar by step; the
// decoders that cross a block boundary are counted by residue; sums (decoders, context) are maintained. Identical
// decode steps are taken many at a time. Blocks are counted; content that requests share is kept as runs of blocks
// (memory/run_pool), and what decoders add to a shared chain is published when somebody may ask for it.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>
#include <optional>
#include <string>

namespace servecast::engine {

// Why this configuration needs the plain loop, or nothing.
std::optional<std::string> needs_plain_loop(const Config& config, const cost::StepCost& cost);

// Requires: !needs_plain_loop(...). shared_content: requests may share prefixes.
std::unique_ptr<Replica> make_constant_time(const Config& config, const cost::StepCost& cost, Observer& observer,
                                            bool shared_content = false);

// The engine of the configuration's steps: SGLang's loop, or the constant-time engine where possible, else the plain
// loop.
std::unique_ptr<Replica> make_replica(const Config& config, const cost::StepCost& cost, Observer& observer,
                                      bool shared_content);

}  // namespace servecast::engine
