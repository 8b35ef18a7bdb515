#include "catch.hpp"
#include "source_samples.hpp"

#include <algorithm>

using namespace servecast;
using namespace servecast::workload;

TEST_CASE("a session's prompt is the system prompt, its earlier turns and the new input") {
  WorkloadConfig c;
  c.sessions.emplace();
  c.sessions->arrivals.process = Process::Constant;
  c.sessions->arrivals.rate_per_s = 1;
  c.sessions->count = 3;
  c.sessions->turns = {Turns::Fixed, 4};
  c.sessions->think_time = {Think::Fixed, 2, std::nullopt};
  c.sessions->system_prompt_tokens = 1000;
  c.sessions->first_input_tokens = fixed(100);
  c.sessions->followup_input_tokens = fixed(30);
  c.output_tokens = fixed(50);
  SourceReport report;
  const auto source = make_source(c, 1, {}, report);
  FakeServer server(*source, core::milliseconds(10));  // half a second a request
  server.run();
  REQUIRE(server.served.size() == 12);
  CHECK(report.sessions == 3);
  CHECK_FALSE(source->reacts());
  std::vector<Request> first;
  for (const Request& request : server.served) {
    if (request.session == 0) first.push_back(request);
  }
  REQUIRE(first.size() == 4);
  for (std::size_t turn = 0; turn < 4; ++turn) {
    const auto n = static_cast<std::int32_t>(turn);
    CHECK(first[turn].prompt_tokens == 1100 + n * 80);
    CHECK(first[turn].arrival == core::Time{} + core::seconds(1 + 2.5 * n));
    REQUIRE(first[turn].content.pieces.size() == 2);
    CHECK(first[turn].content.pieces[0].end == 1000);
    CHECK(first[turn].content.pieces[1].end == first[turn].prompt_tokens);
    CHECK(first[turn].content.tail == first[turn].content.pieces[1].chain);
    CHECK(first[turn].content.tail == first[0].content.tail);
  }
  // All sessions share the system prompt and nothing else.
  CHECK(server.served[0].content.pieces[0].chain == server.served[1].content.pieces[0].chain);
  CHECK(server.served[0].content.tail != server.served[1].content.tail);
}

TEST_CASE("a session ends where its next turn would not fit") {
  WorkloadConfig c;
  c.sessions.emplace();
  c.sessions->arrivals.process = Process::AllAtOnce;
  c.sessions->count = 2;
  c.sessions->turns = {Turns::Fixed, 10};
  c.sessions->first_input_tokens = fixed(100);
  c.sessions->followup_input_tokens = fixed(100);
  c.output_tokens = fixed(100);
  SourceReport report;
  const auto source = make_source(c, 1, {700}, report);
  FakeServer server(*source, core::milliseconds(1));
  server.run();
  CHECK(server.served.size() == 6);  // prompts 100, 300, 500; 700 + 100 does not fit
  CHECK(report.sessions_cut == 2);
  c.overlong = Overlong::Error;
  const auto strict = make_source(c, 1, {700}, report);
  FakeServer strict_server(*strict, core::milliseconds(1));
  CHECK_THROWS_AS(strict_server.run(), core::InputError);
}

TEST_CASE("geometric turns and think times have their means, and draws do not depend on completions") {
  WorkloadConfig c;
  c.sessions.emplace();
  c.sessions->arrivals.rate_per_s = 1;
  c.sessions->count = 4000;
  c.sessions->turns = {Turns::Geometric, 3};
  c.sessions->think_time = {Think::Lognormal, 20, 90};
  c.sessions->applications = 5;
  c.sessions->system_prompt_tokens = 64;
  c.sessions->first_input_tokens = lognormal_by(100, 400);
  c.sessions->followup_input_tokens = lognormal_by(50, 200);
  c.output_tokens = lognormal_by(50, 200);
  const auto serve = [&](core::Duration per_output) {
    SourceReport report;
    const auto source = make_source(c, 9, {}, report);
    FakeServer server(*source, per_output);
    server.run();
    return std::move(server.served);
  };
  auto fast = serve(core::milliseconds(1));
  auto slow = serve(core::milliseconds(100));
  CHECK(static_cast<double>(fast.size()) / 4000 == Approx(3).epsilon(0.05));
  REQUIRE(fast.size() == slow.size());
  const auto by_session = [](const Request& a, const Request& b) {
    return std::pair(a.session, a.prompt_tokens) < std::pair(b.session, b.prompt_tokens);
  };
  std::sort(fast.begin(), fast.end(), by_session);
  std::sort(slow.begin(), slow.end(), by_session);
  double pause = 0;
  int pauses = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    REQUIRE(fast[i].prompt_tokens == slow[i].prompt_tokens);
    REQUIRE(fast[i].hidden.output_tokens == slow[i].hidden.output_tokens);
    if (i == 0 || fast[i].session != fast[i - 1].session) continue;
    pause += core::to_seconds(fast[i].arrival - fast[i - 1].arrival) - 0.001 * fast[i - 1].hidden.output_tokens;
    ++pauses;
  }
  CHECK(pause / pauses == Approx(20).epsilon(0.05));
}
