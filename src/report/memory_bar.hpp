// A bar of one GPU's memory as text, for `fit`: one letter a part, as long as its share. 60 cells; a part that is there
// has at least one. Bytes; parts and what is left over fill the bar exactly.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace servecast::report {

struct BarPart {
  char letter;
  std::string_view name;
  double bytes = 0;
};

// What no part takes is shown as dots. Requires: total > 0, bytes >= 0. Parts beyond the total are scaled to fit.
std::string memory_bar(std::span<const BarPart> parts, double total);

}  // namespace servecast::report
