#include "metrics/conservation.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "synthetic.hpp"

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

TEST_CASE("Little's law and conservation hold for random queues, drained or stopped") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const double rho = 0.2 + 0.05 * static_cast<double>(seed);
    const SingleServerRun run = seed % 2 == 0 ? simulate({rho, 3000, seed, {}}) : simulate({rho, 3000, seed, 1000.0});
    check_requests(run.log);
    check_littles_law(run.log, number_in_system(run.log.records(), run.end));
    const RequestCounts& c = run.log.counts();
    CHECK(c.arrived == c.completed + c.rejected + c.unfinished());
  }
}

TEST_CASE("Little's law notices an N(t) that belongs to other records") {
  const SingleServerRun a = simulate({0.5, 100, 1, {}}), b = simulate({0.5, 100, 2, {}});
  CHECK_THROWS_AS(check_littles_law(a.log, number_in_system(b.log.records(), b.end)), core::LogicError);
}

TEST_CASE("tokens delivered beyond what the engine computed are noticed") {
  RequestLog log;
  complete(log, {0, 1, 2}, 10, 500);
  check_tokens(log, {500, 9});  // nine decode steps and the first token from the prefill
  CHECK_THROWS_AS(check_tokens(log, {500, 8}), core::LogicError);
  CHECK_THROWS_AS(check_tokens(log, {499, 9}), core::LogicError);
}
