// Cached prefixes below the GPU: what is stored when, what is loaded instead of computed, and what that takes.
#include "bench.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config offloading(engine::OffloadWrite write) {
  engine::Config c;
  c.block_size = 4;
  c.blocks = 8;
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 64;
  c.async_scheduling = false;
  c.offload_blocks = 20;
  c.offload_write = write;
  c.block_bytes = 1000;
  c.host_link.bytes_per_s = 1e9;  // 1 us a block
  return c;
}

workload::Request sharing(std::uint32_t id, std::int32_t prompt, std::int32_t end) {
  workload::Request r = request(id, 0, prompt, 1);
  if (end > 0) r.content.pieces.push_back({7, end});
  return r;
}

}  // namespace

TEST_CASE("written through, every full block is stored while the next step runs, and an evicted prefix is loaded") {
  Bench b(offloading(engine::OffloadWrite::Through));
  b.arrive(sharing(0, 16, 16));
  b.step();
  CHECK(b.now.ps == us);
  b.arrive(sharing(1, 28, 0));
  b.step();
  CHECK(b.now.ps == 5 * us);  // the four blocks of the step before take longer than this one
  b.now.ps = 50 * us;         // its own seven have been stored by then
  b.arrive(sharing(2, 17, 16));
  b.step();  // one block is still on the GPU, three come from the host before the step
  CHECK(b.now.ps == 54 * us);
  CHECK(b.seen.lookups.back() == std::tuple{2u, 17, 16, 0});
  CHECK(b.replica->totals().loaded_blocks == 3);
  CHECK(b.replica->totals().stored_blocks == 11);
}

TEST_CASE("written back, a block is stored when the GPU evicts it") {
  Bench b(offloading(engine::OffloadWrite::Back));
  b.arrive(sharing(0, 16, 16));
  b.step();
  CHECK(b.now.ps == us);
  b.arrive(sharing(1, 28, 0));
  b.step();  // takes four unused blocks and three of the first prompt
  CHECK(b.now.ps == 4 * us);
  CHECK(b.replica->totals().stored_blocks == 3);
  b.arrive(sharing(2, 17, 16));
  b.step();  // evicts four of the second prompt for three loaded blocks and one new one
  CHECK(b.now.ps == 8 * us);
  CHECK(b.seen.lookups.back() == std::tuple{2u, 17, 16, 0});
  CHECK(b.replica->totals().loaded_blocks == 3);
  CHECK(b.replica->totals().stored_blocks == 7);
}

TEST_CASE("the host keeps what was used last, within its size") {
  engine::Config c = offloading(engine::OffloadWrite::Through);
  c.offload_blocks = 5;
  Bench b(c);
  b.arrive(sharing(0, 16, 16));
  b.step();
  b.arrive(sharing(1, 28, 0));
  b.step();
  b.arrive(sharing(2, 17, 16));
  b.step();  // the seven blocks of the second prompt pushed the first one's out
  CHECK(b.seen.lookups.back() == std::tuple{2u, 17, 4, 0});
  CHECK(b.replica->totals().loaded_blocks == 0);
}

TEST_CASE("what leaves the host is written to storage and read through the host") {
  engine::Config c = offloading(engine::OffloadWrite::Through);
  c.offload_blocks = 5;
  c.storage_blocks = 20;
  c.storage_link = {0.5e9, 1e9};  // 2 us a block read, 1 us written
  Bench b(c);
  b.arrive(sharing(0, 16, 16));
  b.step();
  b.arrive(sharing(1, 28, 0));
  b.step();  // makes seven blocks to store and six to write
  b.now.ps = 11 * us;
  CHECK(b.replica->totals().tiers.storage_written_blocks == 6);
  b.arrive(sharing(2, 17, 16));
  b.step();  // three blocks are read, 6 us, and the last of them passes the link, 1 us, before the step
  CHECK(b.now.ps == 19 * us);
  CHECK(b.seen.lookups.back() == std::tuple{2u, 17, 16, 0});
  const engine::Totals& t = b.replica->totals();
  CHECK(t.loaded_blocks == 3);
  CHECK(t.tiers.storage_hit_tokens == 12);
  CHECK(t.tiers.host_hit_tokens == 0);
  CHECK(t.tiers.storage_read_blocks == 3);
  CHECK(t.tiers.storage_written_blocks == 9);  // three more made room for them
  CHECK(t.tiers.read.ps == 6 * us);
  CHECK(t.tiers.in.ps == 3 * us);
}

TEST_CASE("written selectively, a block is stored when it is computed after it was asked for twice") {
  Bench b(offloading(engine::OffloadWrite::ThroughSelective));
  b.arrive(sharing(0, 16, 16));
  b.step();
  b.arrive(sharing(1, 28, 0));
  b.step();
  CHECK(b.replica->totals().stored_blocks == 0);
  b.arrive(sharing(2, 17, 16));
  b.step();  // the first block is on the GPU; of the others the fourth was out of the first prompt's reach
  CHECK(b.replica->totals().stored_blocks == 2);
  CHECK(b.now.ps == 3 * us);
}

namespace {

engine::Config loading_ahead() {
  engine::Config c = offloading(engine::OffloadWrite::Through);
  c.offload_prefetch = engine::OffloadPrefetch::Ahead;
  return c;
}

// The first prompt was stored and evicted up to one block. It is 12 us, when all blocks are stored.
void prepare(Bench& b) {
  b.arrive(sharing(0, 16, 16));
  b.step();
  b.arrive(sharing(1, 28, 0));
  b.step();
  REQUIRE(b.now.ps == 5 * us);
  b.now.ps = 12 * us;
}

}  // namespace

TEST_CASE("loaded ahead, a request starts when its blocks are there, with nothing else to do") {
  Bench b(loading_ahead());
  prepare(b);
  b.arrive(sharing(2, 17, 16));
  CHECK_FALSE(b.step());
  CHECK(b.now.ps == 15 * us);
  CHECK(b.load().running == 0);
  CHECK(b.load().waiting == 1);
  CHECK(b.step());
  CHECK(b.now.ps == 16 * us);
  CHECK(b.seen.lookups.back() == std::tuple{2u, 17, 16, 0});
  CHECK(b.replica->totals().tiers.held_up.ps == 3 * us);  // by stores
}

TEST_CASE("loaded ahead, blocks come beside the steps of others") {
  Bench b(loading_ahead());
  prepare(b);
  b.arrive(sharing(2, 17, 16));
  b.arrive(request(3, 0, 4, 3));
  while (b.replica->has_work()) b.step();
  CHECK(b.saw(13, first_token, 3));
  CHECK(b.saw(15, finished, 3));
  CHECK(b.saw(16, first_token, 2));
}

TEST_CASE("blocks that a request loads ahead keep room for the rest of it") {
  Bench b(loading_ahead());
  prepare(b);
  b.arrive(sharing(2, 17, 16));    // five blocks, three of them on their way
  b.arrive(request(3, 0, 16, 1));  // four: one too many
  CHECK_FALSE(b.step());
  CHECK(b.now.ps == 15 * us);
  b.step();
  CHECK(b.saw(16, first_token, 2));
  CHECK_FALSE(b.saw(16, first_token, 3));
  b.step();
  CHECK(b.saw(17, first_token, 3));
}
