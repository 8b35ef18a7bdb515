// The smallest change that makes a deployment fit, tried in order of least disruption: the size of the KV cache where
// the user states it, a larger share of memory, smaller step limits, both, an FP8 KV cache, a shorter longest request,
// more GPUs of the node, a lighter weight format. Every change can be given to --set as it stands.
#pragma once

#include "scenario/fit.hpp"

#include <optional>
#include <string>
#include <vector>

namespace servecast::scenario {

struct Edit {
  std::string key;  // JSON pointer in the user's document, e.g. "/pools/0/engine/max_num_seqs"
  std::string from;
  std::string to;
};

struct Remedy {
  std::vector<Edit> edits;
  FitReport report;          // with the edits applied
  std::string text() const;  // "--set /pools/0/engine/max_num_seqs=128 (now 1024)"
};

// Requires: fit(input).fits is false. Nothing: no tried change makes it fit.
std::optional<Remedy> smallest_change(const FitInput& input);

}  // namespace servecast::scenario
