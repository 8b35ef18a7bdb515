// SGLang's hierarchical cache: what is copied to the host when, what is loaded back beside the layers of a step, and
// what is read ahead from storage.
#include "bench.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;
using engine::OffloadPrefetch;
using engine::OffloadWrite;

namespace {

// Pages of one token, one microsecond each over the host link.
engine::Config hicache(OffloadWrite write) {
  engine::Config c;
  c.steps = engine::StepKind::PrefillFirst;
  c.block_size = 1;
  c.blocks = 40;
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 1024;
  c.max_model_len = 40;
  c.async_scheduling = false;
  c.offload_blocks = 60;
  c.offload_write = write;
  c.block_bytes = 100;
  c.host_link.bytes_per_s = 1e8;
  c.layers = 4;
  return c;
}

// `shared` leading tokens that others have, too.
workload::Request asking(std::uint32_t id, std::int32_t prompt, std::int32_t shared, std::int32_t output = 1) {
  workload::Request r = request(id, 0, prompt, output);
  if (shared > 0) r.content.pieces.push_back({7, shared});
  return r;
}

void serve(Bench& b, const workload::Request& r) {
  b.arrive(r);
  while (b.replica->has_work()) b.step();
}

}  // namespace

TEST_CASE("what the GPU evicted is loaded from the host layer by layer while the step computes") {
  Bench b(hicache(OffloadWrite::Through));
  serve(b, asking(0, 20, 20));
  CHECK(b.now.ps == us);
  serve(b, asking(1, 36, 0));  // takes the first prompt's pages; its copies, asked for at 1 us, take 20
  CHECK(b.now.ps == 21 * us);
  b.now.ps = 100 * us;  // the second prompt's copies are through by then
  serve(b, asking(2, 21, 20));
  CHECK(b.seen.lookups.back() == std::tuple{2u, 21, 20, 0});
  // 20 us to load, of which the first quarter precedes every layer; the step's last layer follows the last of them.
  CHECK(b.now.ps == 120 * us + us / 4);
  CHECK(b.replica->totals().loaded_blocks == 20);
  CHECK(b.replica->totals().tiers.host_hit_tokens == 20);
  CHECK(b.replica->totals().stored_blocks == 56);
}

TEST_CASE("fewer than ten tokens on the host are computed again") {
  for (const std::int32_t shared : {9, 10}) {
    Bench b(hicache(OffloadWrite::Through));
    serve(b, asking(0, shared, shared));
    serve(b, asking(1, 39, 0));
    serve(b, asking(2, shared + 1, shared));
    CHECK(b.seen.lookups.back() == std::tuple{2u, shared + 1, shared == 10 ? 10 : 0, 0});
  }
}

TEST_CASE("written back, pages are copied when the GPU evicts them") {
  Bench b(hicache(OffloadWrite::Back));
  serve(b, asking(0, 20, 20));
  b.now.ps = 50 * us;
  CHECK(b.replica->totals().stored_blocks == 0);
  serve(b, asking(1, 36, 0));
  CHECK(b.now.ps == 70 * us);
  CHECK(b.replica->totals().stored_blocks == 20);
  serve(b, asking(2, 21, 20));
  CHECK(b.seen.lookups.back() == std::tuple{2u, 21, 20, 0});
}

TEST_CASE("written selectively, pages are copied at the second visit") {
  for (const std::int32_t output : {1, 2}) {  // a prompt is visited when it is done, and again at a later end
    Bench b(hicache(OffloadWrite::ThroughSelective));
    serve(b, asking(0, 20, 20, output));
    serve(b, asking(1, 38, 0));
    CHECK(b.replica->totals().stored_blocks == (output == 2 ? 20 : 0));
    serve(b, asking(2, 21, 20));
    CHECK(b.seen.lookups.back() == std::tuple{2u, 21, output == 2 ? 20 : 0, 0});
  }
}

namespace {

// 300 shared tokens are in storage alone. It is 3 us, and the host link takes no time to speak of.
engine::Config stored(OffloadPrefetch prefetch, double us_a_page) {
  engine::Config c = hicache(OffloadWrite::Through);
  c.blocks = 400;
  c.max_model_len = 400;
  c.offload_blocks = 800;
  c.storage_blocks = 5000;
  c.offload_prefetch = prefetch;
  c.host_link.bytes_per_s = 1e15;
  c.storage_link = {1e8 / us_a_page, 1e15};
  return c;
}

void prepare(Bench& b) {
  serve(b, asking(0, 300, 300));
  serve(b, asking(1, 390, 0));
  serve(b, asking(2, 390, 0));
  REQUIRE(b.now.ps == 3 * us);
}

}  // namespace

TEST_CASE("a request waits for what storage has of its prompt where the policy is wait_complete") {
  Bench b(stored(OffloadPrefetch::WaitComplete, 2));
  prepare(b);
  b.arrive(asking(3, 301, 300));
  CHECK_FALSE(b.step());
  CHECK(b.now.ps == 603 * us);
  CHECK(b.step());
  CHECK(b.now.ps == 604 * us + 7);  // 30 ps to load 30 kB, a quarter of it before the first layer
  CHECK(b.seen.lookups.back() == std::tuple{3u, 301, 300, 0});
  CHECK(b.replica->totals().tiers.storage_hit_tokens == 300);
  CHECK(b.replica->totals().tiers.storage_read_blocks == 300);
}

TEST_CASE("a request takes what storage has given by its turn where the policy is best_effort") {
  engine::Config c = stored(OffloadPrefetch::BestEffort, 2);
  c.max_num_seqs = 1;
  Bench idle(c), busy(c);
  prepare(idle);
  serve(idle, asking(3, 301, 300));
  CHECK(idle.now.ps == 4 * us);
  CHECK(idle.seen.lookups.back() == std::tuple{3u, 301, 0, 0});
  CHECK(idle.replica->totals().tiers.storage_read_blocks == 0);
  prepare(busy);
  busy.arrive(request(4, 0, 1, 100));
  busy.arrive(asking(3, 301, 300));
  while (busy.replica->has_work()) busy.step();
  CHECK(busy.seen.lookups.back() == std::tuple{3u, 301, 50, 0});  // 100 us of the other one's steps
  CHECK(busy.replica->totals().tiers.storage_hit_tokens == 50);
}

TEST_CASE("a request loses its patience with storage where the policy is timeout") {
  Bench b(stored(OffloadPrefetch::Timeout, 10'000));  // 3 s for all of it
  prepare(b);
  b.arrive(asking(3, 301, 300));
  CHECK_FALSE(b.step());
  // 1 s, and 0.25 s for each 1,024 of the 300 tokens.
  CHECK(b.now.ps == 3 * us + 1'073'242'187'500 + 1);
  CHECK(b.step());
  CHECK(b.seen.lookups.back() == std::tuple{3u, 301, 107, 0});
}

TEST_CASE("pages that requests share count once for each of them") {
  engine::Config c = hicache(OffloadWrite::Through);
  c.offload_blocks = 0;
  Bench b(c);
  serve(b, asking(0, 10, 10));
  CHECK(static_cast<double>(b.replica->totals().saved_block_time) == 0);
  b.arrive(asking(1, 11, 10));
  b.arrive(asking(2, 11, 10));
  b.step();
  // Ten shared pages and two of their own; both count eleven.
  CHECK(static_cast<double>(b.replica->totals().saved_block_time) == 10.0 * us);
}
