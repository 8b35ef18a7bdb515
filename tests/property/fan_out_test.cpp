// Requests that become several, on every engine that makes them so: the constant-time engine equals the plain loop,
// every request begins and ends once, and no block stays behind.
#include "engine/fan_out.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
#include "support/drive.hpp"
#include "support/recorder.hpp"

#include <algorithm>

using namespace servecast;

namespace {

struct Case {
  engine::Config config;
  std::vector<workload::Request> requests;
};

std::int32_t pick(core::Random& random, std::int32_t low, std::int32_t high) {
  return low + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

Case random_case(std::uint64_t seed, engine::StepKind steps) {
  core::Random random(seed, "test/fan-out");
  Case c;
  engine::Config& e = c.config;
  e.steps = steps;
  e.samples = pick(random, 2, 6);
  e.block_size = steps == engine::StepKind::PrefillFirst ? 1 : pick(random, 1, 16);
  e.max_num_seqs = pick(random, 1, 24);
  e.max_num_batched_tokens = std::max(e.max_num_seqs, pick(random, 8, 400));
  e.enable_prefix_caching = random.below(4) != 0;
  e.async_scheduling = random.below(2) == 0;
  if (steps == engine::StepKind::Mixed && random.below(3) == 0)
    e.capacity_policy = engine::CapacityPolicy::GuaranteedNoEvict;
  const std::int32_t prompt = pick(random, 1, 120);
  const std::int32_t output = pick(random, 1, 60);
  e.max_model_len = prompt + output + 1;
  const std::int64_t one = e.max_model_len / e.block_size + 2;
  e.blocks = one + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(8 * one)));
  std::int64_t t = 0;
  for (int i = pick(random, 1, 40); i > 0; --i) {
    workload::Request r;
    r.id = {static_cast<std::uint32_t>(c.requests.size())};
    t += static_cast<std::int64_t>(random.below(60'000'000));
    r.arrival = {t};
    r.prompt_tokens = pick(random, 1, prompt);
    r.hidden.output_tokens = pick(random, 1, output);
    if (random.below(2) == 0) r.content.pieces.push_back({1 + random.below(3), pick(random, 1, r.prompt_tokens)});
    c.requests.push_back(r);
  }
  return c;
}

void check_whole(const test::Recorder& seen, const engine::Replica& replica, const Case& c) {
  REQUIRE_FALSE(replica.has_work());
  REQUIRE(replica.load(0).blocks_used == 0);
  std::vector<int> began(c.requests.size(), 0), ended(c.requests.size(), 0);
  for (const auto& [time, kind, id, value] : seen.events) {
    if (kind == 0) ++began[id];
    if (kind != 1) continue;
    ++ended[id];
    REQUIRE(began[id] == 1);
    REQUIRE(value == c.requests[id].hidden.output_tokens);
  }
  REQUIRE(std::all_of(began.begin(), began.end(), [](int n) { return n == 1; }));
  REQUIRE(std::all_of(ended.begin(), ended.end(), [](int n) { return n == 1; }));
}

}  // namespace

TEST_CASE("requests that become several are the same in the constant-time engine and the plain loop") {
  const test::RoundCost cost;
  std::int64_t preempted = 0, saved = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Case c = random_case(seed, engine::StepKind::Mixed);
    test::Recorder fast_seen, plain_seen;
    const auto fast = engine::make_replica(c.config, cost, fast_seen, true);
    c.config.loop = engine::Loop::Plain;
    const auto plain = engine::make_replica(c.config, cost, plain_seen, true);
    test::drive(*fast, c.requests, seed % 2 == 0);
    test::drive(*plain, c.requests, false);
    INFO("seed " << seed);
    check_whole(fast_seen, *fast, c);
    fast_seen.sort(), plain_seen.sort();
    REQUIRE(fast_seen.events == plain_seen.events);
    REQUIRE(fast_seen.gaps == plain_seen.gaps);
    REQUIRE(fast_seen.lookups == plain_seen.lookups);
    REQUIRE(fast->totals() == plain->totals());
    preempted += fast->totals().preemptions;
    saved += fast->totals().saved_block_time > 0 ? 1 : 0;
  }
  REQUIRE(preempted > 1000);
  REQUIRE(saved > 500);
}

TEST_CASE("on SGLang every request begins and ends once, cut or not") {
  const test::RoundCost cost;
  std::int64_t preempted = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Case c = random_case(seed, engine::StepKind::PrefillFirst);
    test::Recorder seen, again;
    const auto replica = engine::make_replica(c.config, cost, seen, true);
    const auto twin = engine::make_replica(c.config, cost, again, true);
    test::drive(*replica, c.requests, false);
    test::drive(*twin, c.requests, true);
    INFO("seed " << seed);
    check_whole(seen, *replica, c);
    REQUIRE(seen.events == again.events);
    REQUIRE(replica->totals() == twin->totals());
    preempted += replica->totals().preemptions;
  }
  REQUIRE(preempted > 100);
}
