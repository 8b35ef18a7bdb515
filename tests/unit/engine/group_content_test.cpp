// vLLM v0 with prefix caching and chunked prefill, each rule worked out by hand.
#include "bench.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config v0(std::int64_t blocks) {
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
  c.swap_blocks = 40;
  c.block_bytes = 1000;
  c.host_link.bytes_per_s = 1e9;
  return c;
}

engine::Config caching(std::int64_t blocks) {
  engine::Config c = v0(blocks);
  c.enable_prefix_caching = true;
  return c;
}

engine::Config chunked(std::int64_t blocks, std::int32_t budget) {
  engine::Config c = v0(blocks);
  c.enable_chunked_prefill = true;
  c.max_num_batched_tokens = budget;
  return c;
}

workload::Request alike(std::uint32_t id, std::int32_t shared, std::int32_t prompt, std::int32_t output) {
  workload::Request r = request(id, 0, prompt, output);
  r.content.pieces.push_back({7, shared});
  return r;
}

void finish(Bench& b) {
  while (b.step()) {
  }
  CHECK_FALSE(b.replica->has_work());
  CHECK(b.load().blocks_used == 0);
}

}  // namespace

TEST_CASE("equal prompts of one step share their blocks and are computed each, later ones hit all but the last block") {
  Bench b(caching(40));
  b.arrive(alike(0, 12, 13, 2));
  b.arrive(alike(1, 12, 14, 2));
  b.step();
  CHECK(b.load().blocks_used == 3 + 2);
  CHECK(b.replica->totals().prefill_tokens == 27);
  CHECK(static_cast<double>(b.replica->totals().saved_block_time) == 3.0 * us);
  finish(b);
  b.arrive(alike(2, 12, 12, 2));
  b.step();
  CHECK(b.seen.lookups.back() == std::tuple(2u, 12, 8, 0));  // wholly cached: its last block is computed again
  CHECK(b.replica->totals().prefill_tokens == 27 + 4);
  finish(b);
}

TEST_CASE("what a request generated is cached too, and a recomputed one finds it") {
  Bench b(caching(9));
  b.arrive(request(0, 0, 8, 14));
  b.arrive(request(1, 0, 8, 14));
  std::size_t lookups = 2;
  while (b.step()) {
  }
  REQUIRE(b.seen.lookups.size() > lookups);
  CHECK(b.replica->totals().preemptions > 0);
  CHECK(std::get<0>(b.seen.lookups[lookups]) == 1);
  CHECK(std::get<3>(b.seen.lookups[lookups]) == 1);
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("blocks without content go first, then the content accessed longest ago, its chain's end before its start") {
  Bench b(caching(8));
  b.arrive(alike(0, 12, 12, 1));
  b.step();
  CHECK(b.load().blocks_cached == 3);
  b.arrive(request(1, 0, 20, 1));  // five blocks without content
  b.step();
  CHECK(b.load().blocks_cached == 8);
  b.arrive(request(2, 0, 8, 1));  // two blocks: the ends of the oldest chain
  b.step();
  b.arrive(alike(3, 12, 12, 1));
  b.step();
  CHECK(b.seen.lookups.back() == std::tuple(3u, 12, 4, 0));
}

TEST_CASE("swapped groups find on the GPU what has not been evicted since") {
  engine::Config c = caching(10);
  c.branching.sequences = 2;
  Bench b(c);
  b.arrive(request(0, 0, 8, 12));
  b.arrive(request(1, 0, 8, 12));
  finish(b);
  CHECK(b.replica->totals().swapped_out_blocks > 0);
  CHECK(b.replica->totals().swapped_in_blocks == b.replica->totals().swapped_out_blocks);
}

TEST_CASE("with chunks decodes come first, and prompts take what is left of the step") {
  Bench b(chunked(100, 16));
  b.arrive(request(0, 0, 4, 6));
  b.step();
  b.arrive(request(1, 0, 40, 2));
  b.step();  // a decode and 15 tokens
  CHECK(b.replica->totals().prefill_tokens == 4 + 15);
  CHECK(b.load().blocks_used == 2 + 10);  // all of the prompt's blocks at once
  CHECK(b.replica->slots(0).reserved == 25);
  b.step();
  CHECK(b.replica->totals().prefill_tokens == 4 + 30);
  b.arrive(request(2, 0, 20, 1));
  b.step();  // a decode, the last 10 tokens, 5 of the next
  CHECK(b.replica->totals().prefill_tokens == 4 + 45);
  CHECK(b.saw(4, first_token, 1));
  b.step();  // two decodes and 14
  CHECK(b.replica->totals().prefill_tokens == 4 + 59);
  b.step();
  CHECK(b.saw(6, first_token, 2));
  CHECK(b.seen.gaps[us] == 6);  // nobody ever waited for a prompt
  finish(b);
}

TEST_CASE("with chunks and prefix caching a prompt goes on by whole blocks") {
  engine::Config c = chunked(100, 10);
  c.enable_prefix_caching = true;
  Bench b(c);
  b.arrive(alike(0, 20, 21, 1));
  b.step();
  CHECK(b.replica->totals().prefill_tokens == 8);
  b.arrive(alike(1, 20, 21, 1));
  b.step();
  CHECK(b.replica->totals().prefill_tokens == 16);
  b.step();  // the last five, and of the next one block: four blocks are there, the fifth only after this step
  CHECK(b.seen.lookups.back() == std::tuple(1u, 21, 16, 0));
  CHECK(b.replica->totals().prefill_tokens == 21 + 4);
  b.step();
  CHECK(b.replica->totals().prefill_tokens == 21 + 5);
  finish(b);
}

TEST_CASE("a prompt computed in part is swapped and goes on where it was") {
  engine::Config c = chunked(12, 8);
  c.preemption = engine::PreemptionMode::Swap;
  Bench b(c);
  b.arrive(request(0, 0, 4, 20));
  b.step();
  b.arrive(request(1, 0, 36, 3));
  finish(b);
  CHECK(b.replica->totals().swapped_out_blocks == b.replica->totals().swapped_in_blocks);
  CHECK(b.replica->totals().prefill_tokens == 40);  // nothing twice
}
