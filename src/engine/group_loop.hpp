// vLLM's first scheduler (v0), step by step: requests are groups of sequences that grow from one prompt (parallel
// sampling, beam search), share its blocks and copy a block when they write into one that is shared. Prompts run in
// steps of their own, whole. Short of blocks, the newest group is preempted: a single sequence is recomputed, several
// are swapped to the host together, and come back before any new prompt starts. O(running sequences) a step.
//
// A swap is a transfer that the run returns; the GPU's host link plays it before the step. Not modelled: chunked
// prefill and prefix caching of this scheduler, delays between prompts, the engine's abort where swap space runs out
// (an error here, which names the setting).
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>

namespace servecast::engine {

// Requires: config.steps == StepKind::Groups, no prefix caching, no chunked prefill.
std::unique_ptr<Replica> make_group_loop(const Config& config, const cost::StepCost& cost, Observer& observer);

}  // namespace servecast::engine
