// What the command line asks for. Every mistake is reported, not only the first.
#pragma once

#include "core/error.hpp"
#include "microbench/host/families.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::microbench {

struct Options {
  bool help = false;
  bool list = false;
  bool quick = false;
  bool cold = false;
  std::vector<FamilyId> only;  // ascending; empty: all
  std::string output = "microbench";
  std::string gpu;  // empty: from the device's name
  std::string stack = "microbench-1";
  std::int32_t device = 0;
  std::int32_t repeats = 9;
};

Options parse_options(const std::vector<std::string>& arguments, core::Problems& problems);
std::string usage();

}  // namespace servecast::microbench
