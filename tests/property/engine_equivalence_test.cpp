// The constant-time engine equals the plain loop to the bit: times, preemptions, prefix hits, gaps and totals, over
// thousands of random configurations, most of them short of blocks.
#include "catch.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
#include "engine/plain_loop.hpp"
#include "support/drive.hpp"
#include "support/recorder.hpp"

using namespace servecast;

namespace {

struct Case {
  engine::Config config;
  test::RoundCost cost;
  std::vector<workload::Request> requests;
};

std::int32_t pick(core::Random& random, std::int32_t low, std::int32_t high) {
  return low + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

// Content as sessions, traces, families and nothing real make it: chains that several requests start with, in pieces
// that need not end with a block, tails that go on with the prompt's chain, or that others continue or write at the
// same time.
workload::Content random_content(core::Random& random, std::int32_t prompt, std::uint64_t chains) {
  workload::Content content;
  if (random.below(5) == 0) return content;
  const std::int32_t grain = pick(random, 1, 64);
  std::int32_t end = 0;
  std::uint64_t chain = 1 + random.below(chains);
  for (std::uint64_t i = random.below(5); i > 0 && end < prompt; --i) {
    end = std::min(prompt, end + grain * pick(random, 1, 8));
    content.pieces.push_back({chain, end});
    chain = chain * 8 + random.below(random.below(3) == 0 ? 3 : 1);
  }
  const std::uint64_t kind = random.below(8);
  if (kind == 0) content.tail = chain;
  if (kind == 1) content.tail = 1000 + random.below(chains);
  if (kind == 2 && !content.pieces.empty()) content.tail = content.pieces.back().chain;  // as sessions do
  return content;
}

Case random_case(std::uint64_t seed, bool shared) {
  core::Random random(seed, shared ? "test/engine-equivalence/shared" : "test/engine-equivalence");
  const std::uint64_t chains = 1 + random.below(6);
  Case c;
  engine::Config& e = c.config;
  const std::int32_t sizes[] = {1, 4, 16, 16, 16, 24, 64};
  e.block_size = sizes[random.below(7)];
  e.max_num_seqs = pick(random, 1, random.below(4) == 0 ? 256 : 24);
  e.max_num_batched_tokens = std::max(e.max_num_seqs, pick(random, 8, random.below(2) == 0 ? 64 : 2048));
  e.enable_chunked_prefill = random.below(8) != 0;
  e.enable_prefix_caching = shared || random.below(2) == 0;
  e.reserve_full_isl = random.below(4) != 0;
  e.async_scheduling = random.below(2) == 0;
  e.stop = random.below(2) == 0 ? engine::Stop::Eos : engine::Stop::Length;
  if (random.below(4) == 0) e.capacity_policy = engine::CapacityPolicy::GuaranteedNoEvict;
  e.watermark = random.below(4) == 0 ? 0.03 : 0.0;
  const std::int32_t longest_prompt = pick(random, 1, 400);
  const std::int32_t longest_output = pick(random, 1, random.below(3) == 0 ? 300 : 40);
  e.max_model_len = longest_prompt + longest_output + static_cast<std::int32_t>(random.below(3));
  if (!e.enable_chunked_prefill) e.max_num_batched_tokens = std::max(e.max_num_batched_tokens, e.max_model_len);
  const std::int64_t one = (e.max_model_len + e.block_size - 1) / e.block_size;
  e.blocks = one + static_cast<std::int64_t>(
                       random.below(static_cast<std::uint64_t>(random.below(2) == 0 ? one + 1 : 8 * one + 1)));
  e.blocks += static_cast<std::int64_t>(e.watermark * static_cast<double>(e.blocks)) + 1;
  c.cost.per_context = static_cast<std::int64_t>(random.below(5));
  const int n = pick(random, 1, 120);
  std::int64_t t = 0;
  const std::uint64_t gap = random.below(3) == 0 ? 1 : 1 + random.below(60'000'000);
  for (int i = 0; i < n; ++i) {
    t += static_cast<std::int64_t>(random.below(gap));
    if (random.below(20) == 0) t = t / 1'000'000 * 1'000'000 + 1'000'000;  // some on round instants, to meet step ends
    workload::Request r;
    r.id = {static_cast<std::uint32_t>(i)};
    r.arrival = {t};
    r.prompt_tokens = pick(random, 1, longest_prompt);
    r.hidden.output_tokens = pick(random, 1, longest_output);
    if (random.below(3) == 0) r.max_tokens = r.hidden.output_tokens + pick(random, 0, longest_output);
    if (shared) r.content = random_content(random, r.prompt_tokens, chains);
    c.requests.push_back(r);
  }
  return c;
}

struct Seen {
  std::int64_t preemptions = 0, hits = 0, again = 0, runs = 0, reserving = 0;
};

Seen compare(std::uint64_t seeds, bool shared) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Case c = random_case(seed, shared);
    test::Recorder plain_events, fast_events;
    auto plain = engine::make_plain_loop(c.config, c.cost, plain_events);
    auto fast = engine::make_constant_time(c.config, c.cost, fast_events, shared);
    test::drive(*plain, c.requests, false);
    test::drive(*fast, c.requests, seed % 2 == 0);
    plain_events.sort();
    fast_events.sort();
    INFO("seed " << seed);
    REQUIRE(plain_events.events == fast_events.events);
    REQUIRE(plain_events.lookups == fast_events.lookups);
    REQUIRE(plain_events.gaps == fast_events.gaps);
    REQUIRE(plain->totals() == fast->totals());
    REQUIRE_FALSE(plain->has_work());
    REQUIRE_FALSE(fast->has_work());
    REQUIRE(fast->load(0).blocks_used == 0);
    REQUIRE(plain->load(0).blocks_used == 0);
    if (shared) REQUIRE(plain->load(0).blocks_cached == fast->load(0).blocks_cached);
    std::int64_t finished = 0;
    for (const auto& event : plain_events.events) finished += std::get<1>(event) == 1 ? 1 : 0;
    REQUIRE(finished == static_cast<std::int64_t>(c.requests.size()));
    if (c.config.capacity_policy == engine::CapacityPolicy::GuaranteedNoEvict) {
      REQUIRE(plain->totals().preemptions == 0);
      ++seen.reserving;
    }
    seen.preemptions += plain->totals().preemptions;
    for (const auto& lookup : plain_events.lookups)
      (std::get<3>(lookup) == 1 ? seen.again : seen.hits) += std::get<2>(lookup);
    ++seen.runs;
  }
  WARN(seen.runs << " configurations, " << seen.preemptions << " preemptions, " << seen.hits << " tokens hit, "
                 << seen.again << " hit again");
  return seen;
}

}  // namespace

TEST_CASE("the constant-time engine equals the plain loop over random configurations") {
  const Seen seen = compare(5000, false);
  REQUIRE(seen.reserving > 800);
  REQUIRE(seen.preemptions > 10'000);
  REQUIRE(seen.again > 10'000);
  REQUIRE(seen.hits == 0);
}

TEST_CASE("the constant-time engine equals the plain loop over random shared content") {
  const Seen seen = compare(8000, true);
  REQUIRE(seen.reserving > 800);
  REQUIRE(seen.preemptions > 10'000);
  REQUIRE(seen.again > 10'000);
  REQUIRE(seen.hits > 1'000'000);
}
