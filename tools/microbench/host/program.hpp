// The whole program but for its device: options, plan, measuring, files, progress, exit code. The streams and the
// device are given, so that tests run it as users do.
#pragma once

#include "microbench/host/device.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace servecast::microbench {

struct Console {
  std::ostream& out;      // what was asked for
  std::ostream& err;      // everything else
  bool terminal = false;  // err shows one line that is rewritten
};

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;  // file, disk or device
inline constexpr int exit_usage = 2;
inline constexpr int exit_wrong = 4;  // a kernel's result differed from the reference
inline constexpr int exit_no_device = 5;
inline constexpr int exit_bug = 70;

int run_program(const std::vector<std::string>& arguments, const OpenDevice& open, const Console& console);

}  // namespace servecast::microbench
