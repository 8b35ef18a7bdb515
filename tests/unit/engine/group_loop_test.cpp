// vLLM v0's rules, each worked out by hand: prompts alone, groups of sequences that share and copy blocks, recompute
// and swap, and what comes back first.
#include "bench.hpp"
#include "core/error.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config groups(std::int64_t blocks, std::int32_t sequences) {
  engine::Config c;
  c.steps = engine::StepKind::Groups;
  c.block_size = 4;
  c.blocks = blocks;
  c.max_num_seqs = 16;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 64;
  c.enable_prefix_caching = false;
  c.enable_chunked_prefill = false;
  c.async_scheduling = false;
  c.branching.sequences = sequences;
  c.swap_blocks = 20;
  c.block_bytes = 1000;
  c.host_link.bytes_per_s = 1e9;  // 1 us a block
  return c;
}

}  // namespace

TEST_CASE("prompts run in a step of their own, whole, while others wait to decode") {
  Bench b(groups(100, 1));
  b.arrive(request(0, 0, 4, 5));
  b.step();
  b.arrive(request(1, 0, 40, 2));
  b.arrive(request(2, 0, 30, 2));
  b.step();
  CHECK(b.saw(2, first_token, 1));
  CHECK_FALSE(b.saw(2, first_token, 2));  // 70 tokens exceed the budget of 64
  b.step();
  CHECK(b.saw(3, first_token, 2));
  CHECK(b.seen.gaps.empty());
  b.step();
  CHECK(b.seen.gaps[3 * us] == 1);
  CHECK(b.saw(4, finished, 1));
  CHECK(b.saw(4, finished, 2));
}

TEST_CASE("samples share the prompt's blocks, and all but one copy the last one where it is not full") {
  Bench b(groups(100, 3));
  b.arrive(request(0, 0, 6, 4));
  b.step();
  CHECK(b.load().blocks_used == 2);
  b.step();  // token 7 goes into the second block: two copies, the third writes in place
  CHECK(b.load().blocks_used == 4);
  CHECK(b.replica->totals().copied_blocks == 2);
  b.step();
  CHECK(b.load().blocks_used == 4);
  b.step();  // token 9 opens a block for each
  CHECK(b.replica->totals().copied_blocks == 2);
  CHECK(b.replica->totals().peak_blocks_used == 7);
  CHECK(static_cast<double>(b.replica->totals().saved_block_time) == 2.0 * us * 3);
  CHECK(b.saw(4, finished, 0));
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("a prompt that fills its last block is shared without a copy") {
  Bench b(groups(100, 3));
  b.arrive(request(0, 0, 8, 3));
  b.step();
  b.step();
  CHECK(b.replica->totals().copied_blocks == 0);
  CHECK(b.load().blocks_used == 5);
}

TEST_CASE("beams that always move share all but the last few blocks, and those that never do are samples") {
  engine::Config c = groups(400, 4);
  c.branching.beam = true;
  c.branching.turnover = GENERATE(0.0, 1.0);
  c.max_model_len = 300;
  c.max_num_batched_tokens = 300;
  Bench b(c);
  b.arrive(request(0, 0, 4, 201));
  while (b.replica->totals().steps < 200) b.step();
  if (c.branching.turnover == 0) {
    CHECK(b.load().blocks_used == 1 + 4 * 50);
  } else {
    CHECK(b.load().blocks_used >= 51);
    CHECK(b.load().blocks_used < 51 + 4 * 6);
    CHECK(b.replica->totals().copied_blocks > 100);
  }
  b.step();
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("short of blocks, the newest sequence is recomputed before later arrivals") {
  Bench b(groups(6, 1));
  b.arrive(request(0, 0, 8, 9));
  b.arrive(request(1, 0, 8, 9));
  b.arrive(request(2, 0, 8, 9));
  b.step();
  CHECK(b.load().running == 3);
  b.step();  // each opens a block, there is none: the newest goes, the second's turn finds its blocks
  CHECK(b.saw(1, preempted, 2));
  CHECK(b.load().running == 2);
  CHECK(b.load().waiting == 1);
  while (b.step()) {
  }
  CHECK(b.replica->totals().preemptions >= 1);
  CHECK(b.replica->totals().swapped_out_blocks == 0);
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("a group of several sequences is swapped out, and comes back before a prompt starts") {
  Bench b(groups(10, 2));
  b.arrive(request(0, 0, 8, 12));
  b.arrive(request(1, 0, 8, 12));
  b.step();
  CHECK(b.load().blocks_used == 4);
  b.step();  // every sequence opens a block
  CHECK(b.load().blocks_used == 8);
  b.step(), b.step(), b.step();
  const std::int64_t before = b.now.ps;
  b.step();  // two more for the first group, none for the second: its four blocks move to the host
  CHECK(b.replica->totals().swapped_out_blocks == 4);
  CHECK(b.now.ps - before == us + 4 * us);
  CHECK(b.load().running == 1);
  b.arrive(request(2, 0, 4, 2));
  CHECK(b.load().waiting == 2);
  while (!b.saw(b.now.ps / us, finished, 0)) b.step();
  CHECK_FALSE(b.seen.events.empty());
  CHECK(b.replica->totals().swapped_in_blocks == 0);
  b.step();  // the swapped group first, though a prompt waits
  CHECK(b.replica->totals().swapped_in_blocks == 4);
  b.step();
  CHECK(b.load().running == 2);
  while (b.step()) {
  }
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("prompts leave the watermark free, and a request that can never fit is refused by name") {
  engine::Config c = groups(10, 1);
  c.watermark = 0.2;
  Bench b(c);
  b.arrive(request(0, 0, 16, 2));
  b.arrive(request(1, 0, 20, 2));
  b.step();
  CHECK(b.load().running == 1);  // 4 + 5 blocks would leave one of the two
  Bench never(c);
  never.arrive(request(0, 0, 36, 2));
  CHECK_THROWS_WITH(never.step(), Catch::Contains("does not fit in 10 blocks"));
}

TEST_CASE("swap space that runs out is an error that names the setting") {
  engine::Config c = groups(10, 2);
  c.swap_blocks = 3;
  Bench b(c);
  b.arrive(request(0, 0, 8, 12));
  b.arrive(request(1, 0, 8, 12));
  CHECK_THROWS_WITH(
      [&] {
        while (b.step()) {
        }
      }(),
      Catch::Contains("swap_space_gib"));
}
