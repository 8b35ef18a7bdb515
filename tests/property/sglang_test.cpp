// Laws of SGLang's loop over random configurations, most of them short of memory: everything finishes, nothing leaks,
// cutting changes nothing, tokens are neither lost nor made.
#include "catch.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
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

engine::Config random_config(core::Random& random, std::int32_t longest) {
  engine::Config e;
  e.steps = engine::StepKind::PrefillFirst;
  const std::int32_t sizes[] = {1, 1, 1, 4, 16};
  e.block_size = sizes[random.below(5)];
  e.max_num_seqs = pick(random, 1, 24);
  e.max_num_batched_tokens = e.block_size * pick(random, 2, 40);
  e.max_num_seqs = std::min(e.max_num_seqs, e.max_num_batched_tokens);
  e.max_prefill_tokens = random.below(2) == 0 ? 16384 : pick(random, 1, 200);
  e.enable_chunked_prefill = random.below(4) != 0;
  e.enable_mixed_chunk = e.enable_chunked_prefill && random.below(3) == 0;
  e.enable_prefix_caching = random.below(4) != 0;
  e.async_scheduling = random.below(2) == 0;
  e.schedule_policy = random.below(2) == 0 ? engine::SchedulePolicy::Lpm : engine::SchedulePolicy::Fcfs;
  e.schedule_conservativeness = random.below(2) == 0 ? 1.0 : 0.1;
  e.max_model_len = longest;
  if (!e.enable_chunked_prefill) e.max_num_batched_tokens = std::max(e.max_num_batched_tokens, longest);
  const std::int64_t one = (longest + e.block_size - 1) / e.block_size;
  const std::int64_t most_more = random.below(2) == 0 ? one : 4 * one;
  e.blocks = one + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_more)));
  return e;
}

Case random_case(std::uint64_t seed) {
  core::Random random(seed, "test/sglang");
  Case c;
  const std::int32_t longest_prompt = pick(random, 1, 200);
  const std::int32_t longest_output = pick(random, 1, random.below(2) == 0 ? 200 : 30);
  c.config = random_config(random, longest_prompt + longest_output);
  const std::uint64_t gap = random.below(3) == 0 ? 1 : 1 + random.below(30'000'000);
  std::int64_t t = 0;
  for (std::uint32_t i = 0, n = 1 + static_cast<std::uint32_t>(random.below(100)); i < n; ++i) {
    t += static_cast<std::int64_t>(random.below(gap));
    workload::Request r;
    r.id = {i};
    r.arrival = {t};
    r.prompt_tokens = pick(random, 1, longest_prompt);
    r.hidden.output_tokens = pick(random, 1, longest_output);
    if (random.below(3) == 0) r.max_tokens = r.hidden.output_tokens + pick(random, 0, 50);
    if (random.below(2) == 0) {
      r.content.pieces.push_back({1 + random.below(3), pick(random, 1, r.prompt_tokens)});
      if (random.below(3) == 0) r.content.tail = r.content.pieces[0].chain;
    }
    c.requests.push_back(r);
  }
  return c;
}

}  // namespace

TEST_CASE("SGLang's loop finishes every request and leaks nothing over random configurations") {
  std::int64_t retractions = 0, hits = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    INFO("seed " << seed);
    const Case c = random_case(seed);
    test::Recorder seen, again;
    const auto replica = engine::make_replica(c.config, c.cost, seen, true);
    const auto cut = engine::make_replica(c.config, c.cost, again, true);
    test::drive(*replica, c.requests, false);
    test::drive(*cut, c.requests, true);
    REQUIRE(seen.events == again.events);
    REQUIRE(replica->totals() == cut->totals());
    REQUIRE_FALSE(replica->has_work());
    REQUIRE(replica->load(0).blocks_used == 0);
    std::int64_t finished = 0, output = 0, prompt = 0, first = 0, found = 0;
    for (const auto& [time, kind, id, value] : seen.events) {
      finished += kind == 1 ? 1 : 0;
      first += kind == 0 ? 1 : 0;
    }
    for (const workload::Request& r : c.requests) {
      output += r.hidden.output_tokens;
      prompt += r.prompt_tokens;
    }
    for (const auto& [id, queried, hit, after] : seen.lookups) found += hit;
    const engine::Totals& totals = replica->totals();
    REQUIRE(finished == static_cast<std::int64_t>(c.requests.size()));
    REQUIRE(first == finished);
    // Every token comes of a decode or ends a prefill; a retraction may come before its request's prefill ends.
    REQUIRE(output <= totals.decode_tokens + first + totals.preemptions);
    REQUIRE(output >= totals.decode_tokens + first);
    REQUIRE(totals.prefill_tokens >= prompt - found);
    retractions += totals.preemptions;
    hits += found;
  }
  WARN(retractions << " retractions, " << hits << " tokens hit");
  CHECK(retractions > 1000);
  CHECK(hits > 10'000);
}
