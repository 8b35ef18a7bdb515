#include "cli/progress.hpp"

#include "core/units.hpp"

#include <fmt/format.h>

#include <string>
#include <unistd.h>

namespace servecast::cli {

namespace {

constexpr std::chrono::milliseconds interval{100};
constexpr int line_width = 72;

// Past the stream, which remembers failures: nobody misses a progress line that cannot be shown.
void put(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1), last_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (shown_) put(fmt::format("\r{:{}}\r", "", line_width));
}

void Progress::show(std::uint64_t done, std::optional<std::uint64_t> total, double simulated_s) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < interval) return;
  last_ = now;
  shown_ = true;
  std::string text = core::counted(static_cast<std::int64_t>(done), "request");
  if (total && *total > 0)
    text = fmt::format("{} of {} ({:.0f} %)", done, core::counted(static_cast<std::int64_t>(*total), "request"),
                       100.0 * static_cast<double>(done) / static_cast<double>(*total));
  put(fmt::format("\r{:{}}", fmt::format("{}, {:.0f} s simulated", text, simulated_s), line_width));
}

}  // namespace servecast::cli
