// vLLM v0's groups under random pressure, with and without chunks and shared content: every request ends, what was
// swapped out came back, nothing leaks, and the same seed gives the same run.
#include "engine/group_loop.hpp"

#include "catch.hpp"
#include "core/random.hpp"
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

Case random_case(std::uint64_t seed) {
  core::Random random(seed, "test/group-loop");
  Case c;
  engine::Config& e = c.config;
  e.steps = engine::StepKind::Groups;
  e.async_scheduling = false;
  e.enable_prefix_caching = random.below(2) == 0;
  e.enable_chunked_prefill = random.below(2) == 0;
  e.block_size = pick(random, 1, 16);
  e.branching = {pick(random, 1, 6), random.below(2) == 0, random.uniform(), seed};
  e.preemption = e.branching.sequences > 1 || random.below(2) == 0 ? engine::PreemptionMode::Automatic
                                                                   : engine::PreemptionMode::Swap;
  const std::int32_t prompt = pick(random, 1, 60);
  const std::int32_t output = pick(random, 1, 60);
  e.max_model_len = e.max_num_batched_tokens = prompt + output;
  e.max_num_seqs = e.branching.sequences * pick(random, 1, 8);
  if (e.enable_chunked_prefill)
    e.max_num_batched_tokens = std::max(e.block_size, e.max_num_seqs) + pick(random, 0, e.max_model_len);
  const std::int64_t one = e.branching.sequences * ((e.max_model_len + e.block_size - 1) / e.block_size + 1);
  e.blocks = one + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * one))) + 2;
  e.watermark = random.below(2) == 0 ? 0.01 : 0.0;
  e.swap_blocks = 100'000;
  e.block_bytes = 1000;
  e.host_link.bytes_per_s = 1e9;
  e.block_copy = {1000};
  std::int64_t t = 0;
  for (int i = pick(random, 1, 60); i > 0; --i) {
    workload::Request r;
    r.id = {static_cast<std::uint32_t>(c.requests.size())};
    t += static_cast<std::int64_t>(random.below(40'000'000));
    r.arrival = {t};
    r.prompt_tokens = pick(random, 1, prompt);
    r.hidden.output_tokens = pick(random, 1, output);
    if (random.below(2) == 0) r.content.pieces.push_back({1 + random.below(4), pick(random, 1, r.prompt_tokens)});
    if (random.below(4) == 0) r.content.tail = 1 + random.below(4);
    c.requests.push_back(r);
  }
  return c;
}

}  // namespace

TEST_CASE("groups of sequences all end, whatever is swapped, copied and recomputed on the way") {
  std::int64_t swapped = 0, copied = 0, recomputed = 0, hits = 0;
  const test::RoundCost cost;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Case c = random_case(seed);
    test::Recorder seen, again;
    const auto replica = engine::make_group_loop(c.config, cost, seen);
    const auto twin = engine::make_group_loop(c.config, cost, again);
    test::drive(*replica, c.requests, false);
    test::drive(*twin, c.requests, true);
    INFO("seed " << seed);
    REQUIRE_FALSE(replica->has_work());
    REQUIRE(replica->load(0).blocks_used == 0);
    REQUIRE(seen.events == again.events);
    REQUIRE(replica->totals() == twin->totals());
    const engine::Totals& totals = replica->totals();
    REQUIRE(totals.swapped_out_blocks == totals.swapped_in_blocks);
    REQUIRE(totals.peak_blocks_used <= c.config.blocks);
    const auto ended = std::count_if(seen.events.begin(), seen.events.end(),
                                     [](const test::Recorder::Event& event) { return std::get<1>(event) == 1; });
    REQUIRE(ended == static_cast<std::int64_t>(c.requests.size()));
    swapped += totals.swapped_out_blocks;
    copied += totals.copied_blocks;
    for (const auto& lookup : seen.lookups) hits += std::get<2>(lookup);
    recomputed += totals.swapped_out_blocks == 0 ? totals.preemptions : 0;
  }
  REQUIRE(swapped > 10'000);
  REQUIRE(copied > 10'000);
  REQUIRE(recomputed > 100);
  REQUIRE(hits > 10'000);
}
