// One wake-up that can be armed again or disarmed, for an object that waits for at most one thing. The queue keeps
// stale events; each carries the generation it was armed with and does nothing if that has passed (cancelling is free).
// Requires: the timer stays where it is and lives until the simulation has run or is destroyed.
#pragma once

#include "core/action.hpp"
#include "core/simulation.hpp"
#include "core/time.hpp"

#include <cstdint>

namespace servecast::core {

class Timer {
 public:
  explicit Timer(Simulation& simulation) : simulation_(simulation) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces any earlier wake-up. Requires: at >= now.
  void arm(Time at, Rank rank, Action action) {
    action_ = action;
    due_ = at;
    ++generation_;
    simulation_.at(at, rank, [this, generation = generation_] { wake(generation); });
  }
  void disarm() {
    ++generation_;
    due_ = Time::never();
  }
  bool armed() const { return due_ != Time::never(); }
  Time due() const { return due_; }  // Time::never() when not armed

 private:
  void wake(std::uint64_t generation) {
    if (generation != generation_) return;
    due_ = Time::never();
    Action action = action_;  // the action may arm this timer again
    action();
  }

  Simulation& simulation_;
  Action action_;
  Time due_ = Time::never();
  std::uint64_t generation_ = 0;
};

}  // namespace servecast::core
