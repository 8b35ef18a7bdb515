// vLLM's first scheduler (v0), step by step: requests are groups of sequences that grow from one prompt (parallel
// sampling, beam search), share its blocks and copy a block when they write into one that is shared. Prompts run in
// steps of their own, whole; or with chunked prefill in parts beside the decodes, which come first. Full blocks may be
// shared by content. Short of blocks, the last of the running is preempted: a single sequence is recomputed, several
// are swapped to the host together, and come back before any new prompt starts. O(running groups) a step.
//
// A swap is a transfer that the run returns; the GPU's host link plays it before the step. What the engine aborts on
// throws NoRoom. Not modelled: delays between prompts, several prompts computed in part at a time.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>

namespace servecast::engine {

// Requires: config.steps == StepKind::Groups; with chunks and content, a step that holds a block.
std::unique_ptr<Replica> make_group_loop(const Config& config, const cost::StepCost& cost, Observer& observer);

}  // namespace servecast::engine
