// A replica whose engine knows single sequences only: a request for n of them becomes n requests that share the prompt
// by its content, and the outside sees one. Its first token is the first of any of them, it ends with the last, and
// what it asks of the prefix cache and how often it is preempted is the sum.
//
// All n arrive at once (vLLM v1, TensorRT-LLM); or, with prefill-first steps (SGLang), one more goes ahead to compute
// the prompt and emit a token that nobody sees, and they arrive when the scheduler has learnt of its end.
// Load, totals and token gaps are of sequences. It does not know schedulers: any replica may be inside.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>

namespace servecast::engine {

// Requests that one request becomes, the one that goes ahead included.
inline std::int32_t fan_out(const Config& config) {
  return config.samples + (config.samples > 1 && config.steps == StepKind::PrefillFirst ? 1 : 0);
}

// Requires: config.samples > 1.
std::unique_ptr<Replica> make_fan_out(const Config& config, const cost::StepCost& cost, Observer& observer);

}  // namespace servecast::engine
