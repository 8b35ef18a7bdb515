#include "core/simulation.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

namespace servecast::core {

namespace {

constexpr int sequence_bits = 56;  // 7e16 events: years of wall time at any speed

std::string clock_text(Time t) { return fmt::format("{:.12f} s", to_seconds(t)); }

}  // namespace

void Simulation::at(Time t, Rank rank, Action action) {
  SERVECAST_ENSURE(t >= now_, "an event at {} is in the past of {}", clock_text(t), clock_text(now_));
  SERVECAST_ENSURE(static_cast<bool>(action), "an event without an action at {}", clock_text(t));
  queue_.push({t, static_cast<std::uint64_t>(rank) << sequence_bits | sequence_++, action});
}

void Simulation::count_event(Time t) {
  at_instant_ = t == now_ ? at_instant_ + 1 : 1;
  now_ = t;
  ++events_;
  SERVECAST_ENSURE(at_instant_ <= max_per_instant, "more than {} events at the instant {}: time does not advance",
                   max_per_instant, clock_text(t));
}

bool Simulation::step() {
  if (queue_.empty()) return false;
  const Event& top = queue_.top();
  Action action = top.action;
  const Time t = top.time;
  queue_.pop();
  count_event(t);
  try {
    action();
  } catch (const LogicError& e) {
    throw LogicError(fmt::format("at {}: {}", clock_text(now_), e.what()));
  }
  return true;
}

void Simulation::run() {
  while (step()) {
  }
}

void Simulation::run_until(Time t) {
  SERVECAST_ENSURE(t >= now_, "cannot run back from {} to {}", clock_text(now_), clock_text(t));
  while (!queue_.empty() && queue_.top().time <= t) step();
  if (t > now_) {
    now_ = t;
    at_instant_ = 0;
  }
}

}  // namespace servecast::core
