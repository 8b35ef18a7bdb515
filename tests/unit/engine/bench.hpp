// One replica under test: steps of one microsecond whatever they hold, taken one at a time.
#pragma once

#include "catch.hpp"
#include "engine/constant_time.hpp"
#include "engine/plain_loop.hpp"
#include "support/recorder.hpp"

#include <memory>

namespace servecast::test {

constexpr std::int64_t us = 1'000'000;  // ps
constexpr int first_token = 0, finished = 1, preempted = 2;

// Every step takes one microsecond whatever it holds.
struct UnitCost : RoundCost {
  UnitCost() { per_token = per_decoder = per_context = 0; }
  core::Duration chunk(std::int32_t, std::int32_t) const override { return {0}; }
};

struct Bench {
  UnitCost cost;
  Recorder seen;
  std::unique_ptr<engine::Replica> replica;
  core::Time now{0};

  Bench(const engine::Config& config, bool plain)
      : replica(plain ? engine::make_plain_loop(config, cost, seen) : engine::make_constant_time(config, cost, seen)) {}
  // The engine that a scenario would get.
  explicit Bench(const engine::Config& config) : replica(engine::make_replica(config, cost, seen, true)) {}
  void arrive(const workload::Request& r) { replica->enqueue(r, 0); }
  // One step; returns whether anything was scheduled. Where something can be later, it is later now.
  bool step() {
    const engine::Run run = replica->advance(now, now, {});
    if (run.steps == 0) {
      now = run.end;
      return false;
    }
    REQUIRE(run.steps == 1);
    replica->commit();
    now = run.end;
    return true;
  }
  bool saw(std::int64_t at_us, int kind, std::uint32_t id) const {
    for (const auto& [time, k, r, value] : seen.events) {
      if (time == at_us * us && k == kind && r == id) return true;
    }
    return false;
  }
  engine::Load load() const { return replica->load(0); }
};

}  // namespace servecast::test
