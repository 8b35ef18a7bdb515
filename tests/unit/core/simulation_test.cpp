#include "core/simulation.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/timer.hpp"

#include <string>
#include <tuple>
#include <vector>

using namespace servecast::core;

namespace {

Time at_ps(std::int64_t ps) { return {ps}; }

struct Note {
  std::string* log;
  char what;
  void operator()() { *log += what; }
};

}  // namespace

TEST_CASE("events run by time, then rank, then order of scheduling") {
  Simulation sim;
  std::string log;
  sim.at(at_ps(5), Rank::Observation, Note{&log, 'f'});
  sim.at(at_ps(5), Rank::Decision, Note{&log, 'd'});
  sim.at(at_ps(5), Rank::Decision, Note{&log, 'e'});
  sim.at(at_ps(5), Rank::Arrival, Note{&log, 'c'});
  sim.at(at_ps(5), Rank::Completion, Note{&log, 'a'});
  sim.at(at_ps(5), Rank::Transfer, Note{&log, 'b'});
  sim.at(at_ps(9), Rank::Completion, Note{&log, 'g'});
  CHECK(sim.next_time() == at_ps(5));
  sim.run();
  CHECK(log == "abcdefg");
  CHECK(sim.now() == at_ps(9));
  CHECK(sim.events() == 7);
  CHECK(sim.next_time() == Time::never());
}

TEST_CASE("thousands of random events come out in the total order") {
  Simulation sim;
  Random random(1, "order");
  struct Seen {
    std::vector<std::tuple<std::int64_t, int, int>> order;
    Simulation& sim;
  } seen{{}, sim};
  struct Record {
    Seen* seen;
    std::int32_t rank;
    std::int32_t sequence;
    void operator()() { seen->order.emplace_back(seen->sim.now().ps, rank, sequence); }
  };
  for (std::int32_t i = 0; i < 5000; ++i) {
    const auto rank = static_cast<std::int32_t>(random.below(6));
    sim.at(at_ps(static_cast<std::int64_t>(random.below(300))), static_cast<Rank>(rank), Record{&seen, rank, i});
  }
  sim.run();
  REQUIRE(seen.order.size() == 5000);
  CHECK(std::is_sorted(seen.order.begin(), seen.order.end()));
}

TEST_CASE("an event may schedule at its own instant but not in the past") {
  Simulation sim;
  std::string log;
  struct Chain {
    Simulation& sim;
    std::string& log;
  } chain{sim, log};
  sim.at(at_ps(3), Rank::Arrival, [&chain] {
    chain.sim.after(Duration{0}, Rank::Arrival, Note{&chain.log, 'x'});
    chain.log += 'a';
  });
  sim.at(at_ps(4), Rank::Arrival, [&chain] { chain.sim.at(Time{3}, Rank::Arrival, Note{&chain.log, 'y'}); });
  CHECK_THROWS_AS(sim.run(), LogicError);
  CHECK(log == "ax");
}

TEST_CASE("a bug inside an event is reported with the simulated time") {
  Simulation sim;
  sim.at(Time{1'500'000'000'000}, Rank::Arrival, [] { SERVECAST_ENSURE(false, "it broke"); });
  CHECK_THROWS_WITH(sim.run(), "at 1.500000000000 s: it broke (false)");
}

TEST_CASE("events that never let time advance are caught") {
  Simulation sim;
  struct Spin {
    Simulation* sim;
    void operator()() { sim->after(Duration{0}, Rank::Decision, *this); }
  };
  sim.at(at_ps(1), Rank::Decision, Spin{&sim});
  CHECK_THROWS_WITH(sim.run(), Catch::Contains("time does not advance"));
  CHECK(sim.events() == Simulation::max_per_instant + 1);
}

TEST_CASE("run_until runs up to and including its time and moves the clock there") {
  Simulation sim;
  std::string log;
  for (const int t : {10, 20, 30}) sim.at(at_ps(t), Rank::Arrival, Note{&log, static_cast<char>('0' + t / 10)});
  sim.run_until(at_ps(20));
  CHECK(log == "12");
  CHECK(sim.now() == at_ps(20));
  sim.run_until(at_ps(25));
  CHECK(sim.now() == at_ps(25));
  CHECK_FALSE(sim.empty());
  CHECK_THROWS_AS(sim.run_until(at_ps(24)), LogicError);
}

TEST_CASE("a timer fires once, at its last arming") {
  Simulation sim;
  Timer timer(sim);
  std::string log;
  timer.arm(at_ps(10), Rank::Completion, Note{&log, 'a'});
  timer.arm(at_ps(5), Rank::Completion, Note{&log, 'b'});
  timer.arm(at_ps(7), Rank::Completion, Note{&log, 'c'});
  CHECK(timer.due() == at_ps(7));
  sim.run();
  CHECK(log == "c");
  CHECK_FALSE(timer.armed());
}

TEST_CASE("a disarmed timer does nothing and can be armed again, also by its own action") {
  Simulation sim;
  Timer timer(sim);
  std::string log;
  timer.arm(at_ps(1), Rank::Completion, Note{&log, 'a'});
  timer.disarm();
  CHECK(timer.due() == Time::never());
  struct Owner {
    Timer& timer;
    std::string& log;
    void tick() {
      log += 't';
      if (log.size() < 3)
        timer.arm(Time{timer.due() == Time::never() ? 2 * static_cast<std::int64_t>(log.size()) + 2 : 0},
                  Rank::Completion, [this] { tick(); });
    }
  } owner{timer, log};
  timer.arm(at_ps(2), Rank::Completion, [&owner] { owner.tick(); });
  sim.run();
  CHECK(log == "ttt");
  CHECK(sim.now() == at_ps(6));
}
