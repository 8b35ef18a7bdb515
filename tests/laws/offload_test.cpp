// What must hold of tiers below the GPU whatever they cost: an infinitely fast link and room for everything give the
// hits of a GPU with room for everything, a slower link never makes a fixed workload start sooner on average, and
// loading ahead is no worse than loading when a request starts while the link keeps up.
#include "catch.hpp"
#include "core/random.hpp"
#include "engine/constant_time.hpp"
#include "support/drive.hpp"
#include "support/recorder.hpp"

using namespace servecast;

namespace {

constexpr std::int64_t ms = 1'000'000'000;  // ps

// Sessions of several turns, each of which repeats all before it: their prefixes far exceed the GPU's pool.
std::vector<workload::Request> sessions(std::int64_t mean_gap_ps) {
  core::Random random(1, "test/offload-laws");
  std::vector<std::int32_t> said(40, 0);
  std::vector<workload::Request> out;
  std::int64_t t = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const auto session = random.below(said.size());
    workload::Request r;
    r.id = {i};
    t += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * mean_gap_ps + 1)));
    r.arrival = {t};
    r.hidden.output_tokens = 10 + static_cast<std::int32_t>(random.below(40));
    r.prompt_tokens = said[session] + 50 + static_cast<std::int32_t>(random.below(300));
    r.content.pieces.push_back({1 + session, r.prompt_tokens});
    r.content.tail = 1 + session;
    said[session] = r.prompt_tokens + r.hidden.output_tokens;
    if (said[session] > 3500) said[session] = 0;
    out.push_back(r);
  }
  return out;
}

engine::Config config_of(bool sglang) {
  engine::Config c;
  if (sglang) c.steps = engine::StepKind::PrefillFirst;
  c.block_size = 16;
  c.blocks = 600;
  c.max_num_seqs = 16;
  c.max_num_batched_tokens = 2048;
  c.max_model_len = 4000;
  c.offload_blocks = 100'000;
  c.offload_prefetch = sglang ? engine::OffloadPrefetch::Timeout : engine::OffloadPrefetch::Wait;
  c.block_bytes = 1e6;
  c.host_link.bytes_per_s = 1e10;
  c.layers = 32;
  return c;
}

struct Outcome {
  std::int64_t hits = 0;
  double mean_ttft_ms = 0;
  std::int64_t preempted = 0;
};

Outcome serve(const engine::Config& config, const std::vector<workload::Request>& requests) {
  test::Recorder seen;
  test::RoundCost cost;  // prompts take about what their blocks would over the link
  cost.per_token = 4000;
  const auto replica = engine::make_replica(config, cost, seen, true);
  test::drive(*replica, requests, false);
  Outcome out;
  for (const auto& [id, queried, hit, after] : seen.lookups) out.hits += hit;
  for (const auto& [time, kind, id, value] : seen.events)
    if (kind == 0) out.mean_ttft_ms += static_cast<double>(time - requests[id].arrival.ps) / ms / 400;
  out.preempted = replica->totals().preemptions;
  return out;
}

}  // namespace

TEST_CASE("an infinitely fast link and an unlimited host hit what an unlimited GPU hits") {
  for (const bool sglang : {false, true}) {
    INFO((sglang ? "SGLang" : "vLLM"));
    // One request at a time, so that nothing is preempted and both meet the same contents.
    engine::Config tiers = config_of(sglang);
    tiers.max_num_seqs = 1;
    tiers.host_link.bytes_per_s = 1e30;
    engine::Config room = tiers;
    room.offload_blocks = 0;
    room.blocks = 100'000;
    engine::Config neither = tiers;
    neither.offload_blocks = 0;
    const std::vector<workload::Request> requests = sessions(1000 * ms);
    const Outcome all = serve(room, requests);
    CHECK(serve(tiers, requests).hits == all.hits);
    tiers.offload_prefetch = sglang ? engine::OffloadPrefetch::BestEffort : engine::OffloadPrefetch::Ahead;
    CHECK(serve(tiers, requests).hits == all.hits);
    tiers.offload_write = engine::OffloadWrite::Back;
    CHECK(serve(tiers, requests).hits == all.hits);
    CHECK(serve(neither, requests).hits < all.hits / 2);
  }
}

TEST_CASE("a slower host link never makes requests start sooner on average") {
  for (const bool sglang : {false, true}) {
    for (const auto prefetch : {engine::OffloadPrefetch::Wait, engine::OffloadPrefetch::Ahead}) {
      INFO((sglang ? "SGLang" : "vLLM") << (prefetch == engine::OffloadPrefetch::Wait ? " wait" : " ahead"));
      engine::Config c = config_of(sglang);
      if (!sglang) c.offload_prefetch = prefetch;
      const std::vector<workload::Request> requests = sessions(40 * ms);
      double last = 0;
      for (const double rate : {1e12, 3e11, 1e11, 3e10, 1e10, 3e9, 1e9}) {
        c.host_link.bytes_per_s = rate;
        const double ttft = serve(c, requests).mean_ttft_ms;
        INFO(rate << " bytes/s: " << ttft << " ms after " << last);
        CHECK(ttft >= last);
        last = ttft;
      }
    }
  }
}

TEST_CASE("where the link keeps up, loading ahead never makes requests start later on average") {
  for (const std::int64_t blocks : {1500, 2000, 3000}) {
    for (const double rate : {1e11, 1e10, 3e9, 1e9}) {
      for (const std::int64_t gap : {20, 40, 80, 160}) {
        // Beyond this the link is saturated; then blocks that wait for it push out prefixes that others would find.
        if (rate * static_cast<double>(gap) < 8e10) continue;
        engine::Config c = config_of(false);
        c.blocks = blocks;
        c.host_link.bytes_per_s = rate;
        const std::vector<workload::Request> requests = sessions(gap * ms);
        const double waiting = serve(c, requests).mean_ttft_ms;
        c.offload_prefetch = engine::OffloadPrefetch::Ahead;
        const double ahead = serve(c, requests).mean_ttft_ms;
        INFO(blocks << " blocks, " << rate << " bytes/s, a request every " << gap << " ms: " << ahead << " ms ahead, "
                    << waiting << " waiting");
        CHECK(ahead <= waiting);
      }
    }
  }
}
