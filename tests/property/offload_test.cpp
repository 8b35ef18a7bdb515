// Laws of tiers below the GPU over random configurations of both loops that have them, most of them short of blocks:
// everything finishes, nothing leaks, cutting changes nothing, and what is said to be loaded was found.
#include "catch.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
#include "support/drive.hpp"
#include "support/recorder.hpp"

using namespace servecast;

namespace {

std::int32_t pick(core::Random& random, std::int32_t low, std::int32_t high) {
  return low + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

void add_tiers(engine::Config& e, core::Random& random, bool sglang) {
  using engine::OffloadPrefetch;
  e.offload_blocks = sglang ? e.blocks + pick(random, 1, 400) : pick(random, 1, 200);
  if (random.below(2) == 0) e.storage_blocks = pick(random, 1, 1000);
  const engine::OffloadWrite writes[] = {engine::OffloadWrite::Through, engine::OffloadWrite::ThroughSelective,
                                         engine::OffloadWrite::Back};
  e.offload_write = writes[random.below(3)];
  const OffloadPrefetch policies[] = {OffloadPrefetch::BestEffort, OffloadPrefetch::WaitComplete,
                                      OffloadPrefetch::Timeout};
  if (sglang)
    e.offload_prefetch = policies[random.below(3)];
  else
    e.offload_prefetch = random.below(3) == 0 ? OffloadPrefetch::Wait : OffloadPrefetch::Ahead;
  e.block_bytes = 1000.0 * e.block_size;
  e.layers = pick(random, 1, 40);
  const double rates[] = {1e7, 1e9, 1e11};
  e.host_link.bytes_per_s = rates[random.below(3)];
  e.storage_link = {rates[random.below(3)], rates[random.below(3)]};
}

engine::Config random_config(core::Random& random, std::int32_t longest) {
  engine::Config e;
  const bool sglang = random.below(2) == 0;
  if (sglang) e.steps = engine::StepKind::PrefillFirst;
  e.block_size = sglang && random.below(2) == 0 ? 1 : pick(random, 2, 16);
  e.max_num_seqs = pick(random, 1, 24);
  e.max_num_batched_tokens = std::max(e.block_size * pick(random, 2, 40), e.block_size * e.max_num_seqs);
  e.max_model_len = longest;
  e.enable_chunked_prefill = random.below(4) != 0;
  if (!e.enable_chunked_prefill) e.max_num_batched_tokens = std::max(e.max_num_batched_tokens, longest);
  e.async_scheduling = random.below(2) == 0;
  if (!sglang) {
    e.reserve_full_isl = random.below(2) == 0;
    e.stop = random.below(2) == 0 ? engine::Stop::Eos : engine::Stop::Length;
    e.watermark = random.below(2) == 0 ? 0.0 : 0.02;
    if (random.below(3) == 0) e.long_prefill_token_threshold = pick(random, 1, longest);
  } else {
    e.schedule_policy = random.below(2) == 0 ? engine::SchedulePolicy::Lpm : engine::SchedulePolicy::Fcfs;
  }
  const std::int64_t one = (longest + e.block_size - 1) / e.block_size;
  e.blocks = one + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * one)));
  add_tiers(e, random, sglang);
  return e;
}

std::vector<workload::Request> random_requests(core::Random& random, std::int32_t longest_prompt,
                                               std::int32_t longest_output) {
  std::vector<workload::Request> out;
  const std::uint64_t gap = random.below(3) == 0 ? 1 : 1 + random.below(30'000'000);
  std::int64_t t = 0;
  for (std::uint32_t i = 0, n = 1 + static_cast<std::uint32_t>(random.below(100)); i < n; ++i) {
    t += static_cast<std::int64_t>(random.below(gap));
    workload::Request r;
    r.id = {i};
    r.arrival = {t};
    r.prompt_tokens = pick(random, 1, longest_prompt);
    r.hidden.output_tokens = pick(random, 1, longest_output);
    if (random.below(4) != 0) {
      r.content.pieces.push_back({1 + random.below(4), pick(random, 1, r.prompt_tokens)});
      if (random.below(3) == 0) r.content.tail = r.content.pieces[0].chain;
    }
    out.push_back(r);
  }
  return out;
}

}  // namespace

TEST_CASE("with tiers below the GPU every request finishes and nothing leaks") {
  engine::TierUse sum;
  std::int64_t loaded = 0, preempted = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    INFO("seed " << seed);
    core::Random random(seed, "test/offload");
    const std::int32_t prompt = pick(random, 1, random.below(2) == 0 ? 200 : 900), output = pick(random, 1, 60);
    const engine::Config config = random_config(random, prompt + output);
    const std::vector<workload::Request> requests = random_requests(random, prompt, output);
    test::Recorder seen, again;
    test::RoundCost cost;
    const auto replica = engine::make_replica(config, cost, seen, true);
    const auto cut = engine::make_replica(config, cost, again, true);
    test::drive(*replica, requests, false);
    test::drive(*cut, requests, true);
    REQUIRE(seen.events == again.events);
    REQUIRE(replica->totals() == cut->totals());
    REQUIRE_FALSE(replica->has_work());
    REQUIRE(replica->load(0).blocks_used == 0);
    std::int64_t finished = 0, hit_tokens = 0;
    for (const auto& [time, kind, id, value] : seen.events) finished += kind == 1 ? 1 : 0;
    for (const auto& [id, queried, hit, after] : seen.lookups) hit_tokens += hit;
    const engine::Totals& t = replica->totals();
    REQUIRE(finished == static_cast<std::int64_t>(requests.size()));
    REQUIRE(t.tiers.host_hit_tokens + t.tiers.storage_hit_tokens <= hit_tokens);
    REQUIRE(t.tiers.host_hit_tokens + t.tiers.storage_hit_tokens <= t.loaded_blocks * config.block_size);
    REQUIRE(t.tiers.storage_hit_tokens <= t.tiers.storage_read_blocks * config.block_size);
    sum.host_hit_tokens += t.tiers.host_hit_tokens;
    sum.storage_hit_tokens += t.tiers.storage_hit_tokens;
    loaded += t.loaded_blocks;
    preempted += t.preemptions;
  }
  CHECK(sum.host_hit_tokens > 1'000'000);
  CHECK(sum.storage_hit_tokens > 100'000);
  CHECK(loaded > 100'000);
  CHECK(preempted > 1000);
}
