// Measures the points of families one after another and adds a row for each to its table. Points whose rows exist are
// passed over; what the device refuses or gets wrong is counted, and has no row.
#pragma once

#include "microbench/host/device.hpp"
#include "microbench/host/families.hpp"
#include "microbench/host/options.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace servecast::microbench {

struct Progress {
  FamilyId family;
  std::int64_t done = 0, all = 0;  // points of the family
  std::string point;               // the next one; empty at the end of the family
};

struct Report {
  std::int64_t measured = 0;
  std::int64_t kept = 0;  // rows that were there
  std::int64_t refused = 0;
  std::vector<std::string> refusals;  // each reason once, with the first point it met
  std::vector<std::string> wrong;     // every point whose result differed from the reference
  std::vector<std::string> files;     // written or continued, ascending
};

// Throws core::InputError if a file of the output folder cannot be continued, core::Error if the disk refuses.
Report measure_all(Device& device, const Options& options, const std::function<void(const Progress&)>& progress);

}  // namespace servecast::microbench
