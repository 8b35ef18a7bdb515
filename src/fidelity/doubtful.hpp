// Measured values that contradict their neighbours or themselves, each with its reason. They are predicted and reported
// like all others, but apart, and do not enter the scores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace servecast::fidelity {

struct RowKey {
  std::string_view model;   // document name
  std::string_view gpu;     // document name
  std::string_view engine;  // as the row writes it, lower case
  std::string_view weights;
  std::int32_t tensor = 1;
  std::int64_t isl = 0;
  std::int64_t osl = 0;
  std::int64_t concurrency = 0;
};

// Why `metric` of the row is distrusted, or "".
std::string_view doubt(const RowKey& row, std::string_view metric);

// The same for an engine's start log, by the row's id.
std::string_view start_log_doubt(std::string_view id);

}  // namespace servecast::fidelity
