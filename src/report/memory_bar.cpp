#include "report/memory_bar.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace servecast::report {
namespace {

constexpr int cells = 60;

}  // namespace

std::string memory_bar(std::span<const BarPart> parts, double total) {
  SERVECAST_ENSURE(total > 0, "a bar of {} bytes", total);
  double sum = 0;
  for (const BarPart& part : parts) sum += part.bytes;
  const double whole = std::max(sum, total);
  std::string bar, legend;
  double end = 0;
  for (const BarPart& part : parts) {
    if (part.bytes <= 0) continue;
    end += part.bytes;
    const int least = static_cast<int>(bar.size()) + 1;
    const int until = std::clamp(static_cast<int>(std::lround(end / whole * cells)), std::min(least, cells), cells);
    bar.append(static_cast<std::size_t>(std::max(0, until - static_cast<int>(bar.size()))), part.letter);
    legend += fmt::format("{}{} {}", legend.empty() ? "" : ", ", part.letter, part.name);
  }
  bar.append(static_cast<std::size_t>(cells) - bar.size(), '.');
  return fmt::format("  [{}] {}\n  {}\n", bar, core::bytes_text(total), legend);
}

}  // namespace servecast::report
