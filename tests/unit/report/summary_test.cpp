#include "report/summary.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "report/figures.hpp"
#include "sample_result.hpp"

#include <cmath>
#include <sstream>

using namespace servecast;
using namespace servecast::report;

TEST_CASE("the summary of a full result") {
  CHECK(summary(sample::full()) == R"(chat-70b-b200: stable at load factor 0.625, limited by memory bandwidth
  requests were served as fast as they arrived

  TTFT p50                 312  ms
  TTFT p99               1,240  ms
  TPOT p99                38.2  ms
  output tokens          4,220  /s, 528 /s per GPU
  goodput                 19.8  requests/s; 99.0 % of all meet the targets
                                TTFT 2,000 ms, TPOT 50.0 ms

  20,000 requests arrived, 19,990 completed, 3 unfinished, 7 rejected, 12
  preempted on the way; 1,000 s on 8 GPUs
    7 rejected: longer than max_model_len 16384

  Latency (ms)         mean      p50      p90      p95      p99      max
  TTFT                  350      312      610      780    1,240    2,500
  TPOT                 31.5     30.0     36.0     37.0     38.2     45.0
  ITL                  31.0     29.5     40.0     44.0     60.5      400
  E2E                 7,000    6,500   12,000   15,000   19,500   31,000

  Throughput
  requests                20.0  /s
  all tokens            27,320  /s, prompts included
  per user                31.8  output tokens/s

  Memory          weights  KV cache   tokens  mean  peak  waste  hits  preempted
  serve          37.3 GiB   112 GiB  486,784  40 %  71 %  2.5 %  25 %         12
  bytes per GPU, tokens per replica

  Replica time        compute     memory    network       host       idle
  share                20.0 %     40.0 %      6.2 %      3.8 %     30.0 %

  Numbers behind     measured    derived  datasheet    assumed  extrapolated
  step time             0.0 %     25.0 %     50.0 %     25.0 %        10.0 %

  Cost and energy
  output                 $1.53  per million tokens, all cost on them
  input                 $0.279  per million tokens, all cost on them
  blended               $0.236  per million prompt and output tokens
  price                  $2.90  per GPU and hour
  energy                  1.47  J per output token
  power                   6.20  kW mean, 7.90 kW peak

  Confidence (95 %)
  TTFT                  +- 3.25  ms on the mean
  TPOT                 +- 0.500  ms on the mean
  E2E                   +- 90.0  ms on the mean
  warm-up                   200  requests; then 4,312 independent samples

  Warnings
  - the step cost is not calibrated for this GPU: figures rest on datasheet
    peaks and assumed efficiencies

  seed 1 fingerprint 0123456789abcdef servecast 0.1.0
)");
}

TEST_CASE("the summary of an infeasible scenario") {
  CHECK(summary(sample::infeasible()) == R"(too-big: infeasible
  weights need 203 GiB per GPU, 160 GiB are available

  seed 1 servecast 0.1.0
)");
}

TEST_CASE("colour is used only when asked for") {
  CHECK(summary(sample::full()).find('\x1b') == std::string::npos);
  CHECK(summary(sample::full(), Colour::On).find("\x1b[1;32mchat-70b-b200: stable") == 0);
}

TEST_CASE("no line of any summary is wider than 80 columns or holds a control character") {
  core::Random random(20, "test/results");
  const auto number = [&] { return std::exp(random.normal() * 8) * (random.below(20) == 0 ? 0 : 1); };
  const auto count = [&] { return static_cast<std::int64_t>(random.next() >> (random.below(62) + 2)); };
  const auto words = [&] {
    std::string text;
    for (std::uint64_t i = random.below(60); i > 0; --i)
      text += static_cast<char>(random.below(3) == 0 ? 32 : random.below(256));
    return text;
  };
  const auto distribution = [&] {
    return metrics::Distribution{count(), number(), number(), number(), number(), number(), number()};
  };
  for (int i = 0; i < 2000; ++i) {
    metrics::Result r = sample::full();
    r.scenario = words();
    r.verdict = {static_cast<metrics::State>(random.below(4)), words() + words(), number()};
    r.requests.arrived = count();
    r.requests.completed = r.requests.arrived / 2;
    r.requests.preempted = count();
    r.rejections = {{words(), count()}, {words(), count()}};
    r.duration_s = number();
    r.gpus = count();
    r.latency = metrics::Latency{distribution(), distribution(), distribution(), distribution()};
    r.throughput = metrics::Throughput{number(), number(), number(), number(), number()};
    r.targets = {number(), number(), number()};
    r.goodput = metrics::Goodput{number(), random.uniform(), count()};
    if (random.below(2) == 0) r.goodput.reset();
    r.memory.push_back({words(),
                        count(),
                        count(),
                        number(),
                        number(),
                        number(),
                        count(),
                        16,
                        count(),
                        random.uniform(),
                        random.uniform(),
                        {random.uniform(), 0, random.uniform(), 0, 0},
                        count(),
                        random.uniform(),
                        {}});
    const auto blocks = [&] { return static_cast<std::int64_t>(random.below(1'000'000'000)); };
    if (random.below(2) == 0)
      r.memory.back().tiers =
          metrics::TierFigures{blocks(),         blocks(),         blocks(),         blocks(),
                               blocks(),         blocks(),         blocks(),         1e6 * random.uniform(),
                               random.uniform(), random.uniform(), random.uniform(), random.uniform(),
                               random.uniform()};
    r.energy = metrics::EnergyUse{number(), number(), number(), number(), number(), number()};
    r.cost = metrics::TokenCost{number(), number(), number(), number(), number()};
    r.confidence = metrics::Confidence{count(), random.below(2) == 0, number(), 0, number(), number(), number()};
    r.warnings = {words(), words() + words() + words() + words()};
    r.seed = random.next();
    r.partial = random.below(2) == 0;
    std::istringstream lines(summary(r));
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      REQUIRE(width_of(line) <= 80);
      REQUIRE(printable(line) == line);
    }
  }
}

TEST_CASE("the head of a run that is too short says so, with what changes its meaning") {
  metrics::Result r = sample::full();
  r.verdict = {metrics::State::Stable, "too few for a queue to show", 1.4, false};
  r.cautions = {"42.0 % of the requests were cut"};
  r.goodput->undecided = 3;
  const std::string text = summary(r);
  CHECK(text.find("chat-70b-b200: too short a run to tell, load factor 1.40, limited by memory\n"
                  "bandwidth\n"
                  "  too few for a queue to show\n"
                  "  caution: 42.0 % of the requests were cut\n") == 0);
  CHECK(text.find("3 in flight count neither way\n") != std::string::npos);
}

TEST_CASE("figures that nothing stands behind are dashes") {
  metrics::Result r = sample::full();
  r.requests = {};
  r.duration_s = 0;
  r.latency = metrics::Latency{};
  r.throughput = metrics::Throughput{};
  r.goodput = metrics::Goodput{};
  r.cost = metrics::TokenCost{};
  r.energy.reset();
  r.no_energy = "mi300x states no idle power";
  const std::string text = summary(r);
  CHECK(text.find("TTFT p50                   -  ms\n") != std::string::npos);
  CHECK(text.find("output tokens              -  /s, - /s per GPU\n") != std::string::npos);
  CHECK(text.find("output                     -  per million tokens") != std::string::npos);
  CHECK(text.find("energy                     -  mi300x states no idle power\n") != std::string::npos);
}
