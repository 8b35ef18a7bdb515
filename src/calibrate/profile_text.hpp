// A kernel profile as a JSON document for review in diffs: what fits on a line is one, lists of numbers share lines.
#pragma once

#include "cost/kernels/profile.hpp"

#include <string>
#include <string_view>

namespace servecast::calibrate {

std::string profile_text(const cost::kernels::KernelProfile& profile);

// The same JSON without spaces in lines of at most `width` where its values allow it: whatever fits shares a line, longer
// objects and lists are broken between members and indented, and a new line begins after them. Requires: valid JSON.
std::string compact_text(std::string_view json, std::size_t width);

}  // namespace servecast::calibrate
