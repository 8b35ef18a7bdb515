// Names of a checkpoint's modules by tensor class, and whether an exclusion pattern covers one. Checkpoints list the
// modules that quantisation left alone by such patterns.
#pragma once

#include "model/architecture.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace servecast::model {

// One name per quantisable matrix of one block; experts by their first one.
struct ModuleNames {
  std::vector<std::string> attention_inputs;  // q, k, v, or the MLA projections; inputs of a state mixer
  std::vector<std::string> attention_output;
  std::vector<std::string> mlp;  // dense MLP or shared experts
  std::vector<std::string> experts;
};

ModuleNames module_names(const Architecture& a, std::int32_t layer);

// Plain names cover themselves and their children, a bare word any module that has it as a part, '*' stands for
// anything, "re:" patterns may use ".*", "\." and "(a|b)" and cover from the start of a name. A wrapper's
// "language_model." is ignored on both sides.
bool covers(std::string_view pattern, std::string_view module);

}  // namespace servecast::model
