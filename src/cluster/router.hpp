// Which replica serves a request. A router sees the request's visible facts and the loads it asks for, never the true
// output length and never the cluster. Call order: route() once per request, in order of arrival.
#pragma once

#include "engine/replica.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace servecast::cluster {

struct RequestView {
  workload::RequestId id;
  std::int32_t prompt_tokens = 0;
  std::uint32_t session = 0;
};

class Router {
 public:
  virtual ~Router() = default;
  // Index of the chosen target. loads: one per target, current at this instant; empty if !needs_loads().
  virtual std::size_t route(const RequestView& request, std::span<const engine::Load> loads, std::size_t targets) = 0;
  virtual bool needs_loads() const { return false; }
};

std::unique_ptr<Router> make_round_robin();
// Uniformly at random, from the stream "router/random".
std::unique_ptr<Router> make_random(std::uint64_t seed);
// Fewest requests waiting or running; the lowest index among equals.
std::unique_ptr<Router> make_least_loaded();
// The less loaded of two drawn at random, from the stream "router/power-of-two".
std::unique_ptr<Router> make_power_of_two(std::uint64_t seed);

}  // namespace servecast::cluster
