// What prefix caches would have hit of a trace.
#include "workload/prefix_replay.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "trace_files.hpp"

#include <algorithm>
#include <vector>

using namespace servecast;
using workload::PrefixLru;

namespace {

// The rule written down with one list, most recently used last.
struct SlowLru {
  std::size_t capacity;
  std::vector<std::uint64_t> order;

  std::int64_t access(const std::vector<std::uint64_t>& ids) {
    std::int64_t hits = 0;
    const auto holds = [this](std::uint64_t id) { return std::find(order.begin(), order.end(), id) != order.end(); };
    while (hits < static_cast<std::int64_t>(ids.size()) && holds(ids[static_cast<std::size_t>(hits)])) ++hits;
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      order.erase(std::remove(order.begin(), order.end(), *id), order.end());
      order.push_back(*id);
    }
    if (capacity > 0 && order.size() > capacity)
      order.erase(order.begin(), order.end() - static_cast<std::ptrdiff_t>(capacity));
    return hits;
  }
};

}  // namespace

TEST_CASE("of a prompt the last block leaves a full cache first") {
  PrefixLru cache(3);
  const std::vector<std::uint64_t> prompt = {1, 2, 3};
  const std::vector<std::uint64_t> other = {9};
  CHECK(cache.access(prompt) == 0);
  CHECK(cache.access(prompt) == 3);
  CHECK(cache.access(other) == 0);
  CHECK(cache.access(prompt) == 2);
}

TEST_CASE("a prompt longer than the cache leaves its head in it") {
  PrefixLru cache(2);
  const std::vector<std::uint64_t> prompt = {1, 2, 3, 4};
  CHECK(cache.access(prompt) == 0);
  CHECK(cache.access(prompt) == 2);
}

TEST_CASE("caches of all sizes equal a slow one over random prompts that branch") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    core::Random random(seed, "test/prefix-replay");
    const std::size_t capacity = seed % 5 == 0 ? 0 : 1 + static_cast<std::size_t>(random.below(60));
    PrefixLru fast(static_cast<std::int64_t>(capacity));
    SlowLru slow{capacity, {}};
    for (int i = 0; i < 400; ++i) {
      std::vector<std::uint64_t> ids;
      std::uint64_t id = random.below(4);
      for (std::uint64_t left = random.below(12); left > 0; --left) {
        ids.push_back(id);
        id = id * 5 + 7 + random.below(2);
      }
      REQUIRE(fast.access(ids) == slow.access(ids));
    }
  }
}

TEST_CASE("the last token of a prompt is never hit, though its block is") {
  const workload::TraceFile file(
      "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 5, \"hash_ids\": [1, 2]}\n"
      "{\"timestamp\": 1, \"input_length\": 1024, \"output_length\": 5, \"hash_ids\": [1, 2]}\n"
      "{\"timestamp\": 2, \"input_length\": 1025, \"output_length\": 5, \"hash_ids\": [1, 2, 3]}\n");
  const std::vector<std::int64_t> capacities = {0, 1};
  const auto replays = workload::replay_prefixes(file.path(), workload::TraceFormat::Mooncake, capacities);
  CHECK(replays.blocks == 7);
  CHECK(replays.tokens == 3073);
  CHECK(replays.caches[0].hit_blocks == 4);
  CHECK(replays.caches[0].hit_tokens == 512 + 1024);
  CHECK(replays.caches[1].hit_blocks == 2);
  CHECK(replays.caches[1].hit_tokens == 1024);
}

TEST_CASE("the Mooncake conversation trace is hit as published") {
  const auto path = workload::shared_trace("mooncake/conversation_trace.jsonl");
  if (!path) {
    WARN("the trace is not here; skipped");
    return;
  }
  const std::vector<std::int64_t> capacities = {0, 1000, 5000, 10000, 30000, 50000, 100000};
  const auto replays = workload::replay_prefixes(*path, workload::TraceFormat::Mooncake, capacities);
  CHECK(replays.blocks == 288'500);
  CHECK(replays.caches[0].hit_blocks == 105'710);
  const double tokens = static_cast<double>(replays.caches[0].hit_tokens) / static_cast<double>(replays.tokens);
  CHECK(tokens == Approx(0.3734).margin(5e-5));
  const std::vector<double> shares = {0.045, 0.112, 0.212, 0.326, 0.355, 0.364};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double hit = static_cast<double>(replays.caches[i + 1].hit_blocks) / static_cast<double>(replays.blocks);
    CHECK(hit == Approx(shares[i]).margin(0.001));
  }
}
