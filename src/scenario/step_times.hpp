// The cost model of a pool: from formats, parallel sizes, GPU, fabric and the stack's host constants to step times.
#pragma once

#include "core/time.hpp"
#include "cost/roofline.hpp"
#include "cost/step_cost.hpp"
#include "metrics/precision_use.hpp"
#include "scenario/build.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace servecast::scenario {

struct StepTimes {
  std::unique_ptr<const Resolved> basis;   // what model refers to
  std::unique_ptr<cost::StepModel> model;  // that cost was compiled from; null where the scenario fixes step times
  std::unique_ptr<cost::StepCost> cost;
  core::Duration client_overhead;                  // frontend time before the first token reaches the client
  std::vector<std::string> warnings;               // approximations by name
  std::optional<metrics::PrecisionUse> precision;  // where a policy chose formats
};

// Throws core::InputError for what the cost model refuses. Requires: the pool fits.
StepTimes make_step_times(const Resolved& r, std::size_t pool);

// The same uncompiled, operator by operator. r must outlive it. warnings are appended.
cost::StepModel step_model(const Resolved& r, std::size_t pool, std::vector<std::string>& warnings);

}  // namespace servecast::scenario
