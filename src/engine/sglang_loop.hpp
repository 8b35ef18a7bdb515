// SGLang's scheduler, step by step: prompts run in steps of their own whenever one can start, else everything decodes.
// Admission expects each running request to use a share of its output limit that falls with every decode step and is
// set anew when memory runs out and requests are retracted. Memory is a radix tree over pages and the requests' own.
// One step costs O(batch). What is left out: docs/models/schedulers.md.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>

namespace servecast::engine {

// Requires: config.steps == StepKind::PrefillFirst.
std::unique_ptr<Replica> make_sglang_loop(const Config& config, const cost::StepCost& cost, Observer& observer);

}  // namespace servecast::engine
