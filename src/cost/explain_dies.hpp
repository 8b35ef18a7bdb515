// A step's traffic between the two dies of a GPU, operator by operator: what crosses, how long that takes, and how much
// of the operator's own time it leaves.
#pragma once

#include "cost/roofline.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace servecast::cost {

struct DieRow {
  std::string name;
  double seconds = 0;  // of the operator
  double hbm_bytes = 0;
  double l2_bytes = 0;        // requested by the SMs
  double crossing_bytes = 0;  // per direction
  double crossing_s = 0;
  double headroom = 0;     // share of the operator's time that the crossing leaves; 0: the link is what it waits for
  std::string_view limit;  // compute, HBM, L2, die link or launch: the longest by its own bytes and operations
};

// Empty: the model's device has no two dies. Arguments as of explain().
std::vector<DieRow> explain_dies(const StepModel& model, const StepShape& shape,
                                 const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks);

}  // namespace servecast::cost
