#include "scenario/catalog.hpp"

#include "core/error.hpp"

namespace servecast::scenario {

namespace {

struct RouterEntry {
  RouterPolicy policy;
  std::unique_ptr<cluster::Router> (*make)(std::uint64_t seed);
};

constexpr RouterEntry routers[] = {
    {RouterPolicy::RoundRobin, [](std::uint64_t) { return cluster::make_round_robin(); }},
    {RouterPolicy::Random, &cluster::make_random},
    {RouterPolicy::LeastLoaded, [](std::uint64_t) { return cluster::make_least_loaded(); }},
    {RouterPolicy::PowerOfTwo, &cluster::make_power_of_two},
};

}  // namespace

std::vector<std::string> router_names() {
  std::vector<std::string> out;
  for (const RouterEntry& entry : routers)
    out.emplace_back(names_of(entry.policy)[static_cast<std::size_t>(entry.policy)]);
  return out;
}

std::unique_ptr<cluster::Router> make_router(const Router& config, std::uint64_t seed) {
  for (const RouterEntry& entry : routers)
    if (entry.policy == config.policy) return entry.make(seed);
  SERVECAST_ENSURE(false, "router policy {} has no maker", static_cast<int>(config.policy));
  return nullptr;
}

}  // namespace servecast::scenario
