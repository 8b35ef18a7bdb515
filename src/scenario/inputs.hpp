// Which files a result comes from: SHA-256 by role ("scenario", "scenario/extends", "model", "trace"). Documents built
// into the binary are told by its version.
#pragma once

#include "config/document.hpp"
#include "metrics/result.hpp"

#include <string>
#include <vector>

namespace servecast::scenario {

struct Resolved;

// The files of a document: its own, then those it extends.
void record_inputs(std::vector<metrics::InputHash>& inputs, std::string role, const config::Document& document);

// Of all files that resolving and running read. Reads the trace; throws core::Error if that fails.
std::vector<metrics::InputHash> inputs_of(const Resolved& r);

}  // namespace servecast::scenario
