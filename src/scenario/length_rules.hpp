// Lengths of which none can ever fit into the longest sequence an engine takes. Where some draws fit, the workload's
// own policy (overlong) decides, request by request. And how long requests are on average.
#pragma once

#include "core/error.hpp"
#include "workload/config.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace servecast::scenario {

// Where a value of the document was given, by its JSON pointer.
using PlaceOf = std::function<std::string(const std::string& pointer)>;

// Requires: the workload has passed its own rules.
void check_lengths(const workload::WorkloadConfig& w, std::int32_t max_model_len, const PlaceOf& place,
                   core::Problems& problems);

// Mean tokens of a request, prompt and output, or 0 where only running tells (traces, sessions).
double mean_request_tokens(const workload::WorkloadConfig& w);

}  // namespace servecast::scenario
