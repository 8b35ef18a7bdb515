// Clock and event queue of one run: pops events in the total order (time, rank, sequence), so results depend on nothing
// else. Invariants: time never goes back; nothing is scheduled in the past; one instant holds at most max_per_instant
// events (more is a zero-delay spin). No cancelling: see Timer. Single-threaded.
#pragma once

#include "core/action.hpp"
#include "core/time.hpp"

#include <boost/heap/d_ary_heap.hpp>

#include <cstdint>

namespace servecast::core {

// Order of events within one instant; first in, first out inside a rank.
enum class Rank : std::uint8_t {
  Completion,   // what ends now frees blocks and lanes before anyone asks for them
  Transfer,     // bytes that arrive now are there for whoever decides now
  Arrival,      // a request that arrives now joins the queues before batches are formed
  Decision,     // routing and batch starts see every completion, transfer and arrival of the instant
  Scaling,      // scaling looks at queues after routing has settled them
  Observation,  // samples and progress see a settled instant and change nothing
};

class Simulation {
 public:
  static constexpr std::uint64_t max_per_instant = 1'000'000;

  Time now() const { return now_; }
  // Requires: t >= now().
  void at(Time t, Rank rank, Action action);
  // Requires: d >= 0.
  void after(Duration d, Rank rank, Action action) { at(now_ + d, rank, action); }

  // Runs the earliest event; false if there is none. A LogicError from the event is rethrown with the simulated time.
  bool step();
  void run();
  // Runs every event up to and including t, then sets the clock to t. Requires: t >= now().
  void run_until(Time t);

  bool empty() const { return queue_.empty(); }
  std::uint64_t events() const { return events_; }  // events run so far
  Time next_time() const { return queue_.empty() ? Time::never() : queue_.top().time; }

 private:
  struct Event {
    Time time;
    std::uint64_t key;  // rank in the top byte, sequence below
    Action action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.time != b.time ? a.time > b.time : a.key > b.key; }
  };

  void count_event(Time t);

  boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>> queue_;
  Time now_;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t at_instant_ = 0;
};

}  // namespace servecast::core
