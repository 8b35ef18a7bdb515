// TensorRT-LLM's two capacity policies, worked out by hand and run on both engines.
#include "bench.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config reserving(std::int64_t blocks) {
  engine::Config c;
  c.block_size = 4;
  c.blocks = blocks;
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 28;
  c.enable_prefix_caching = false;
  c.async_scheduling = false;
  c.capacity_policy = engine::CapacityPolicy::GuaranteedNoEvict;
  return c;
}

}  // namespace

TEST_CASE("guaranteed no evict starts what fits with the whole output of everything that runs") {
  const bool plain = GENERATE(true, false);
  Bench b(reserving(10), plain);
  b.arrive(request(0, 0, 8, 9));   // ceil(17 / 4) = 5 blocks
  b.arrive(request(1, 0, 8, 12));  // 5 blocks
  b.arrive(request(2, 0, 1, 1));   // 1 block: not one is left to promise, though 6 are free
  b.step();
  CHECK(b.load().blocks_used == 4);
  CHECK(b.load().waiting == 1);
  while (b.step()) {
  }
  CHECK(b.saw(9, finished, 0));  // one prefill, eight decodes
  CHECK(b.saw(10, finished, 2));
  CHECK(b.saw(12, finished, 1));
  CHECK(b.replica->totals().preemptions == 0);
}

TEST_CASE("guaranteed no evict counts the output limit that a client states, not the true length") {
  const bool plain = GENERATE(true, false);
  Bench b(reserving(10), plain);
  workload::Request stated = request(0, 0, 8, 3);
  stated.max_tokens = 20;  // 7 blocks
  b.arrive(stated);
  b.arrive(request(1, 0, 8, 8));  // 4 blocks
  b.step();
  CHECK(b.load().running == 1);
  while (b.step()) {
  }
  CHECK(b.saw(3, finished, 0));
  CHECK(b.saw(4, first_token, 1));
}

TEST_CASE("guaranteed no evict asks for no blocks that a running request already holds for both") {
  engine::Config c = reserving(7);
  c.enable_prefix_caching = true;
  const bool shared = GENERATE(true, false);
  Bench b(c, true);
  for (std::uint32_t i = 0; i < 2; ++i) {
    workload::Request r = request(i, 0, 16, 4);  // 5 blocks; 3 of its 4 full ones can be hit
    r.content.pieces.push_back({shared ? 7 : 7 + i, 16});
    b.arrive(r);
    b.step();
  }
  // The first holds 4 and may ask for 1 more; 3 are free: the second needs 5 - 3 hits = 2, or 5.
  CHECK(b.load().running == (shared ? 2 : 1));
}

TEST_CASE("max utilization starts by current need and pauses the newest, where no evict makes it wait") {
  const bool plain = GENERATE(true, false);
  const bool reserve = GENERATE(true, false);
  engine::Config c = reserving(7);
  if (!reserve) c.capacity_policy = engine::CapacityPolicy::MaxUtilization;
  Bench b(c, plain);
  b.arrive(request(0, 0, 8, 9));
  b.arrive(request(1, 0, 8, 12));
  while (b.step()) {
  }
  CHECK(b.saw(9, finished, 0));
  if (reserve) {
    CHECK(b.saw(10, first_token, 1));  // 5 + 5 blocks promised exceed 7
    CHECK(b.saw(21, finished, 1));
    CHECK(b.replica->totals().preemptions == 0);
  } else {
    // Both take a third block in step 2; in step 6 both want a fourth and one is left.
    CHECK(b.saw(1, first_token, 1));
    CHECK(b.saw(5, preempted, 1));
    // Its 13 tokens need 4 blocks, free when request 0 ends: recomputed in step 10, seven tokens to go.
    CHECK(b.saw(16, finished, 1));
  }
}

TEST_CASE("without context chunking a prompt waits for a step that holds it whole") {
  const bool plain = GENERATE(true, false);
  engine::Config c = reserving(100);
  c.max_model_len = 64;
  c.enable_chunked_prefill = false;
  Bench b(c, plain);
  b.arrive(request(0, 0, 40, 2));
  b.arrive(request(1, 0, 40, 2));
  b.arrive(request(2, 0, 4, 2));  // would fit beside the first, but waits its turn
  b.step();
  CHECK(b.load().waiting == 2);
  b.step();
  CHECK(b.saw(2, first_token, 1));
  CHECK(b.saw(2, first_token, 2));
}
