// A kernel profile as a JSON document for review in diffs: numbers of a list share lines.
#pragma once

#include "cost/kernels/profile.hpp"

#include <string>
#include <string_view>

namespace servecast::calibrate {

std::string profile_text(const cost::kernels::KernelProfile& profile);

// Indented JSON with every list of numbers folded into lines of at most `width`.
std::string fold_numbers(std::string_view json, std::size_t width);

}  // namespace servecast::calibrate
