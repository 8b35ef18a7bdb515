// Checks that every number of a profile says where it comes from. A profile is walked through its own describe(), so a
// new number without an origin cannot be forgotten.
#pragma once

#include "hardware/gpu.hpp"

#include <functional>
#include <string>
#include <vector>

namespace servecast::hardware {

struct NumberKey {
  std::string key;  // dotted path, e.g. "dense.bf16"
  bool zero = false;
};

// Every number that describe() declares, in order.
std::vector<NumberKey> number_keys(const std::function<void(config::Fields&)>& describe_profile);

// Complains about non-zero numbers without an origin, origins of unknown or zero keys, keys stated twice, and sources
// left empty.
void check_origin(const std::vector<NumberKey>& numbers, const std::vector<Origin>& origin, const Complain& complain);

}  // namespace servecast::hardware
