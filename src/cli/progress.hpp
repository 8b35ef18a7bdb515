// A progress line on a terminal's stderr, at most ten times a second of wall time; silent anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace servecast::cli {

class Progress {
 public:
  Progress();
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done of total requests ended, at simulated_s.
  void show(std::uint64_t done, std::optional<std::uint64_t> total, double simulated_s);

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace servecast::cli
