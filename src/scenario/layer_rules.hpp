// What an engine does with a model whose layers keep different things (windows, states, an encoder's keys and values),
// beside how it lays them out: whether it caches their prefixes, which settings they exclude, what is said where the
// engine keeps pools that a run does not have.
#pragma once

#include "core/error.hpp"
#include "engine/settings.hpp"
#include "model/architecture.hpp"
#include "scenario/fit.hpp"
#include "scenario/kv_layout.hpp"
#include "scenario/stack.hpp"

#include <string>

namespace servecast::scenario {

// Whether the engine caches prefixes of this model unless told.
bool caches_prefixes(const Stack& stack, const model::Architecture& m);

// layout: of the resolved settings. place: of the pool's engine section.
void check_layers(const Stack& stack, const model::Architecture& m, const KvLayout& layout,
                  const engine::Settings& resolved, const std::string& place, core::Problems& problems);

// Which models and stacks interleave tokens over ranks. place: of the key.
void check_decode_context(const FitInput& input, const std::string& place, core::Problems& problems);

// What a run leaves out about the engine's pools, or nothing.
std::string pools_left_out(const Stack& stack, const model::Architecture& m, const engine::Settings& resolved);

}  // namespace servecast::scenario
