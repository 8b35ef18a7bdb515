// The one list of every policy that a scenario can name. Adding a policy is one file, one line here and one test.
#pragma once

#include "cluster/router.hpp"
#include "scenario/scenario.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace servecast::scenario {

std::vector<std::string> router_names();
std::unique_ptr<cluster::Router> make_router(const Router& config, std::uint64_t seed);

}  // namespace servecast::scenario
