#include "catch.hpp"
#include "source_samples.hpp"

#include <set>

using namespace servecast;
using namespace servecast::workload;

TEST_CASE("an open loop offers dense ids in order of arrival and then never") {
  SourceReport report;
  const auto source = make_source(open_loop(20, 1000), 1, {}, report);
  CHECK(source->total() == std::uint64_t{1000});
  CHECK_FALSE(source->reacts());
  const auto requests = drain(*source);
  REQUIRE(requests.size() == 1000);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    REQUIRE(requests[i].id.value == i);
    REQUIRE(requests[i].prompt_tokens >= 1);
    REQUIRE(requests[i].hidden.output_tokens >= 1);
    REQUIRE_FALSE(requests[i].content.shared());
    if (i > 0) REQUIRE(requests[i].arrival >= requests[i - 1].arrival);
  }
  CHECK(report.offered == 1000);
}

TEST_CASE("changing one stream leaves the others as they were") {
  const auto base = drain(open_loop(20, 500));
  const auto faster = drain(open_loop(40, 500));
  WorkloadConfig longer = open_loop(20, 500);
  longer.output_tokens = lognormal_by(400, 2000);
  longer.shared_prefix = SharedPrefixConfig{4, 64, 0.5, 1};
  const auto outputs = drain(longer);
  WorkloadConfig bursty = open_loop(20, 500);
  bursty.arrivals->process = Process::Gamma;
  bursty.arrivals->cv = 3;
  const auto gamma = drain(bursty);
  for (std::size_t i = 0; i < base.size(); ++i) {
    REQUIRE(faster[i].prompt_tokens == base[i].prompt_tokens);
    REQUIRE(std::abs(faster[i].arrival.ps * 2 - base[i].arrival.ps) <= 2 * static_cast<std::int64_t>(i + 1));
    REQUIRE(outputs[i].arrival == base[i].arrival);
    REQUIRE(outputs[i].prompt_tokens == base[i].prompt_tokens);
    REQUIRE(gamma[i].prompt_tokens == base[i].prompt_tokens);
    REQUIRE(gamma[i].hidden.output_tokens == base[i].hidden.output_tokens);
    // Inversion is monotone: a longer law never gives a shorter length where its quantile is higher.
    if (base[i].hidden.output_tokens > 211) REQUIRE(outputs[i].hidden.output_tokens > base[i].hidden.output_tokens);
  }
  CHECK(drain(open_loop(20, 500), 2)[0].arrival != base[0].arrival);
}

TEST_CASE("a duration ends an open loop") {
  WorkloadConfig c = open_loop(100, 1);
  c.requests.reset();
  c.duration_s = 30;
  const auto requests = drain(c);
  CHECK(static_cast<double>(requests.size()) == Approx(3000).epsilon(0.08));
  CHECK(requests.back().arrival <= core::Time{} + core::seconds(30));
}

TEST_CASE("joint lengths occur together") {
  WorkloadConfig c = open_loop(10, 4000);
  c.input_tokens.reset();
  c.output_tokens.reset();
  c.joint = {{100, 10, 3}, {2000, 500, 1}};
  int large = 0;
  for (const Request& request : drain(c)) {
    if (request.prompt_tokens == 2000) {
      REQUIRE(request.hidden.output_tokens == 500);
      ++large;
    } else {
      REQUIRE(request.prompt_tokens == 100);
      REQUIRE(request.hidden.output_tokens == 10);
    }
  }
  CHECK(large == Approx(1000).epsilon(0.08));
}

TEST_CASE("shared prefixes come from their families in the share asked for") {
  WorkloadConfig c = open_loop(10, 4000);
  c.input_tokens = fixed(100);
  c.shared_prefix = SharedPrefixConfig{3, 64, 0.25, 0};
  std::set<std::uint64_t> families;
  int sharing = 0;
  for (const Request& request : drain(c)) {
    if (request.content.pieces.empty()) continue;
    ++sharing;
    REQUIRE(request.content.pieces.size() == 1);
    REQUIRE(request.content.pieces[0].end == 64);
    REQUIRE(request.content.tail == 0);
    families.insert(request.content.pieces[0].chain);
  }
  CHECK(sharing == Approx(1000).epsilon(0.08));
  CHECK(families.size() == 3);
}

TEST_CASE("drawn lengths are clipped to max_model_len and counted, fixed ones are an error") {
  SourceReport report;
  WorkloadConfig c = open_loop(10, 5000);
  const auto source = make_source(c, 1, {2048}, report);
  for (const Request& request : drain(*source)) REQUIRE(request.prompt_tokens + request.hidden.output_tokens <= 2048);
  CHECK(report.clipped_inputs > 300);
  CHECK(report.clipped_outputs >= report.clipped_inputs);

  c.input_tokens = fixed(2000);
  c.output_tokens = fixed(49);
  CHECK(refusal(c, {2048}) == std::vector<std::string>{"workload: request 0: 2000 input and 49 output tokens exceed "
                                                       "max_model_len 2048; raise max_model_len or set overlong to "
                                                       "truncate or reject"});
  CHECK(refusal(c, {2049}).empty());
  c.overlong = Overlong::Truncate;
  CHECK(drain(c, 1, {2048})[0].hidden.output_tokens == 48);
}

TEST_CASE("overlong requests that are rejected are left out and counted") {
  SourceReport report;
  WorkloadConfig c = open_loop(10, 1000);
  c.overlong = Overlong::Reject;
  const auto requests = drain(*make_source(c, 1, {2048}, report));
  CHECK(report.offered == 1000);
  CHECK(requests.size() + report.rejected_overlong == 1000);
  CHECK(report.rejected_overlong > 50);
  CHECK(requests.back().id.value == requests.size() - 1);
}

TEST_CASE("a closed loop keeps its concurrency and stops at its requests") {
  WorkloadConfig c;
  c.closed_loop = ClosedLoopConfig{8, 100};
  c.input_tokens = fixed(10);
  c.output_tokens = lognormal_by(50, 200);
  SourceReport report;
  const auto source = make_source(c, 1, {}, report);
  CHECK(source->reacts());
  FakeServer server(*source, core::milliseconds(1));
  server.run();
  CHECK(server.served.size() == 100);
  CHECK(server.peak == 8);
  CHECK_FALSE(source->reacts());
  for (std::size_t i = 0; i < 8; ++i) CHECK(server.served[i].arrival == core::Time{});
  // Request 8 + k is sent the instant the k-th request ends.
  for (std::size_t k = 0; k + 8 < 100; ++k) REQUIRE(server.served[8 + k].arrival == server.ends[k]);
}

TEST_CASE("a closed loop of equal requests has the throughput of its concurrency") {
  WorkloadConfig c;
  c.closed_loop = ClosedLoopConfig{4, std::nullopt};
  c.input_tokens = fixed(10);
  c.output_tokens = fixed(20);
  c.duration_s = 10;
  SourceReport report;
  const auto source = make_source(c, 1, {}, report);
  FakeServer server(*source, core::milliseconds(50));  // one second a request
  server.run();
  CHECK(server.served.size() == 44);  // 4 at each of the instants 0 to 10
}

TEST_CASE("contradictions of a workload are all reported together") {
  WorkloadConfig c = open_loop(10, 5);
  c.arrivals->cv = 2;
  c.input_tokens->p99 = 1e6;
  c.output_tokens.reset();
  c.spread_ticks = true;
  CHECK(refusal(c).size() == 4);
  WorkloadConfig none;
  CHECK(refusal(none) == std::vector<std::string>{"workload: give exactly one of arrivals, trace, closed_loop and "
                                                  "sessions, not 0"});
  WorkloadConfig endless = open_loop(10, 5);
  endless.requests.reset();
  CHECK(refusal(endless) == std::vector<std::string>{"workload: requests or duration_s is missing"});
}

TEST_CASE("scaling the rate works wherever there is one") {
  WorkloadConfig c = open_loop(10, 5);
  CHECK(scale_rate(c, 1.5));
  CHECK(*c.arrivals->rate_per_s == 15);
  WorkloadConfig trace;
  trace.trace = "x";
  CHECK(scale_rate(trace, 3));
  CHECK(trace.rate_scale == 3);
  WorkloadConfig closed;
  closed.closed_loop.emplace();
  CHECK_FALSE(scale_rate(closed, 2));
}

TEST_CASE("a raised stop ends every source") {
  const std::atomic<bool> stop{true};
  SourceReport report;
  WorkloadConfig loop = open_loop(20, 1000);
  loop.arrivals.reset();
  loop.requests.reset();
  loop.closed_loop = ClosedLoopConfig{4, 100};
  for (const WorkloadConfig& c : {open_loop(20, 1000), loop}) {
    const auto source = make_source(c, 1, {0, StopFlag(&stop)}, report);
    CHECK(source->next_arrival() == core::Time::never());
  }
  CHECK(report.warnings.empty());
}

TEST_CASE("rates that are 0 for ever are refused") {
  WorkloadConfig c = open_loop(20, 10);
  c.arrivals = ArrivalsConfig{};
  c.arrivals->process = Process::Piecewise;
  c.arrivals->piecewise = {{0, 0}, {10, 0}};
  SourceReport report;
  CHECK_THROWS_WITH(make_source(c, 1, {}, report), Catch::Contains("no request would ever arrive"));
}

TEST_CASE("rates are never raised beyond what a document may state") {
  CHECK(rate_room(open_loop(20, 10)) == 5e7);
  WorkloadConfig trace;
  trace.trace = "trace.csv";
  trace.rate_scale = 4;
  CHECK(rate_room(trace) == 2.5e5);
}
