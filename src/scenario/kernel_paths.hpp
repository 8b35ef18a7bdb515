// Kernel profiles that a stack names by path instead of by a built-in folder: "mine" is built in, "./mine" is a folder on
// disk that holds kernels/<gpu>.json, as `calibrate fit -o ./mine` writes it. Relative to the stack's own document.
#pragma once

#include "config/document.hpp"
#include "core/error.hpp"
#include "metrics/result.hpp"
#include "scenario/stack.hpp"

#include <string>
#include <vector>

namespace servecast::scenario {

// File of a GPU's profile in a folder named by path.
std::string kernel_file(const std::string& folder, const std::string& gpu);

// Makes such paths absolute, in the stack and in its document, so that a resolved document works from anywhere; records
// each file's digest. A folder without a profile of this GPU is a problem.
void resolve_kernel_paths(const std::string& gpu, config::Document& document, Stack& stack,
                          std::vector<metrics::InputHash>& inputs, core::Problems& problems);

}  // namespace servecast::scenario
