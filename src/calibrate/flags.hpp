// Measurements known to be wrong or not to measure the kernel, by GPU, stack and table: they are left out of fits with
// their reason. Each entry says what shows it.
#pragma once

#include "calibrate/dataset.hpp"

#include <string>

namespace servecast::calibrate {

// Why a row is left out of fits, or empty.
std::string flagged(const TableName& table, const Key& key, const Observation& row);

}  // namespace servecast::calibrate
