// Rows of engine start logs as deployments that `fit` can predict. A row that cannot be predicted says which field is
// missing; nothing is guessed per row. Reads the shared kv_capacity.csv; none of it is kept in this repository.
#pragma once

#include "scenario/fit.hpp"
#include "scenario/stack.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace servecast::fidelity {

using CsvRow = std::map<std::string, std::string>;  // column -> text

// Quoted fields may hold commas; an empty list when the file is absent.
std::vector<CsvRow> read_csv(const std::string& path);

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

KvRow kv_row(const CsvRow& row, const std::vector<scenario::Stack>& stacks);

}  // namespace servecast::fidelity
