// Rows of engine start logs as deployments that `fit` can predict. A row that cannot be predicted says which field is
// missing; nothing is guessed per row.
#pragma once

#include "fidelity/csv.hpp"
#include "scenario/fit.hpp"
#include "scenario/stack.hpp"

#include <span>
#include <string>

namespace servecast::fidelity {

struct KvRow {
  std::string id;
  std::string refused;  // why it cannot be predicted; empty: input is complete
  scenario::FitInput input;
  scenario::Match match = scenario::Match::Unversioned;
  double weights_gib = 0;  // 0: not stated, as below
  double activation_gib = 0;
  double kv_gib = 0;
  double blocks = 0;
  double tokens = 0;
  bool assumed_utilization = false;
};

KvRow kv_row(const CsvRow& row, std::span<const scenario::Stack> stacks);

}  // namespace servecast::fidelity
