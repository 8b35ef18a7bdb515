// Cached prefixes in host memory: what is stored when, what is loaded instead of computed, and what that takes.
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

TEST_CASE("written through, every full block is stored while the step runs, and an evicted prefix is loaded") {
  Bench b(offloading(engine::OffloadWrite::Through));
  b.arrive(sharing(0, 16, 16));
  b.step();
  CHECK(b.now.ps == 4 * us);  // four blocks to store take longer than the step
  b.arrive(sharing(1, 28, 0));
  b.step();
  CHECK(b.now.ps == 11 * us);
  b.arrive(sharing(2, 17, 16));
  b.step();  // one block is still on the GPU, three come from the host before the step
  CHECK(b.now.ps == 15 * us);
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
