#include "catch.hpp"
#include "core/error.hpp"
#include "synthetic.hpp"

using namespace servecast;
using namespace servecast::metrics;
using namespace servecast::metrics::synthetic;

TEST_CASE("a record keeps arrival, tokens and instants in 32 bytes") {
  RequestLog log;
  complete(log, {1, 2, 3}, 5, 700);
  const Record& r = log.records()[0];
  CHECK(sizeof(r) == 32);
  CHECK(r.arrival == at(1));
  CHECK(r.first_token == at(2));
  CHECK(r.finish == at(3));
  CHECK(r.prompt_tokens == 700);
  CHECK(r.output_tokens == 5);
}

TEST_CASE("unfinished requests stay visible and count") {
  RequestLog log;
  complete(log, {0, 1, 2}, 5);
  arrive(log, 1);
  log.rejected(arrive(log, 2), at(2), "longer than max_model_len");
  CHECK(log.counts().arrived == 3);
  CHECK(log.counts().completed == 1);
  CHECK(log.counts().rejected == 1);
  CHECK(log.counts().unfinished() == 1);
  CHECK(log.records()[1].unfinished());
  CHECK(log.records()[1].finish == core::Time::never());
  CHECK(log.rejections().at("longer than max_model_len") == 1);
}

TEST_CASE("storage grows in chunks without moving earlier records") {
  RequestLog log;
  arrive(log, 0);
  const Record* first = &log.records()[0];
  for (int i = 1; i < 200000; ++i) arrive(log, i * 1e-3, i);
  CHECK(&log.records()[0] == first);
  CHECK(log.records()[199999].prompt_tokens == 199999);
  CHECK(log.records().bytes() == std::size_t{4} * 65536 * 32);
}

TEST_CASE("preemptions count as events and as requests") {
  RequestLog log(RequestLog::Rows::Kept);
  const auto a = arrive(log, 0), b = arrive(log, 1);
  log.preempted(a, at(2));
  log.preempted(a, at(3));
  log.preempted(b, at(4));
  CHECK(log.counts().preemptions == 3);
  CHECK(log.counts().preempted == 2);
  CHECK(log.detail(0).preemptions == 2);
}

TEST_CASE("prefix lookups after a preemption are kept apart") {
  RequestLog log(RequestLog::Rows::Kept);
  const auto a = arrive(log, 0, 64);
  log.prefix_lookup(a, 64, 48, false);
  log.prefix_lookup(a, 70, 64, true);
  CHECK(log.counts().prefix_queried_tokens == 64);
  CHECK(log.counts().prefix_hit_tokens == 48);
  CHECK(log.counts().prefix_hit_tokens_preempted == 64);
  CHECK(log.detail(0).cached_prompt_tokens == 48);
}

TEST_CASE("the fingerprint depends on what happened when, not on the order of telling") {
  const auto run = [](bool swapped, double finish) {
    RequestLog log;
    const auto a = arrive(log, 0), b = arrive(log, 0);
    log.first_token(swapped ? b : a, at(1));
    log.first_token(swapped ? a : b, at(1));
    log.preempted(a, at(1.5));
    log.finished(a, at(finish), 3);
    return log.fingerprint().text();
  };
  CHECK(run(false, 2) == run(true, 2));
  CHECK(run(false, 2) != run(false, 2.000000000001));
}

TEST_CASE("impossible observations are our own bug") {
  RequestLog log;
  const auto a = arrive(log, 5);
  CHECK_THROWS_AS(log.first_token(a, at(4)), core::LogicError);
  CHECK_THROWS_AS(log.finished(a, at(6), 3), core::LogicError);
  log.first_token(a, at(6));
  CHECK_THROWS_AS(log.first_token(a, at(7)), core::LogicError);
  CHECK_THROWS_AS(log.finished({9}, at(7), 3), core::LogicError);
  workload::Request gap;
  gap.id = {7};
  CHECK_THROWS_AS(log.arrived(gap, 0), core::LogicError);
}
