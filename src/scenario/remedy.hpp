// The smallest change that makes a deployment fit, tried in order of least disruption: a larger share of memory,
// smaller step limits, both, an FP8 KV cache, a shorter longest request, more GPUs of the node, a lighter weight
// format.
#pragma once

#include "scenario/fit.hpp"

#include <optional>
#include <string>
#include <vector>

namespace servecast::scenario {

struct Edit {
  std::string key;  // JSON pointer inside the pool, e.g. "/engine/max_num_seqs"
  std::string from;
  std::string to;
};

struct Remedy {
  std::vector<Edit> edits;
  FitReport report;          // with the edits applied
  std::string text() const;  // "set /engine/max_num_seqs from 1024 to 128"
};

// Requires: fit(input).fits is false. Nothing: no tried change makes it fit.
std::optional<Remedy> smallest_change(const FitInput& input);

}  // namespace servecast::scenario
