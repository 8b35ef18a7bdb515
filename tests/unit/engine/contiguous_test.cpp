// Contiguous baselines, worked out by hand: regions, admission, and what their slots hold.
#include "bench.hpp"
#include "engine/contiguous_loop.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;
using engine::KvAllocation;

namespace {

engine::Config contiguous(KvAllocation allocation) {
  engine::Config c;
  c.block_size = 16;
  c.blocks = 5;  // 80 slots: regions of 64 and 16
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 32;
  c.enable_prefix_caching = false;
  c.async_scheduling = false;
  c.kv_allocation = allocation;
  return c;
}

}  // namespace

TEST_CASE("the policies reserve the longest, the next power of two, and the true output") {
  CHECK(engine::reserved_slots(KvAllocation::ContiguousMax, 100, 25, 2048) == 2048);
  CHECK(engine::reserved_slots(KvAllocation::ContiguousPow2, 100, 25, 2048) == 132);
  CHECK(engine::reserved_slots(KvAllocation::ContiguousPow2, 100, 32, 2048) == 132);
  CHECK(engine::reserved_slots(KvAllocation::ContiguousPow2, 2000, 40, 2048) == 2048);
  CHECK(engine::reserved_slots(KvAllocation::ContiguousOracle, 100, 25, 2048) == 125);
}

TEST_CASE("two regions of the longest length fit, and the third request waits beside 16 slots it cannot use") {
  Bench b(contiguous(KvAllocation::ContiguousMax));
  for (std::uint32_t i = 0; i < 3; ++i) b.arrive(request(i, 0, 10, 3));
  b.step();
  CHECK(b.load().running == 2);
  CHECK(b.load().waiting == 1);
  const engine::SlotUse use = b.replica->slots(0);
  CHECK(use.tokens == 20);
  CHECK(use.reserved == 2 * 13 - 20);  // prompts and outputs
  CHECK(use.internal == 2 * (32 - 13));
  CHECK(use.external == 16);
  while (b.step()) {
  }
  CHECK(b.saw(3, finished, 0));
  CHECK(b.saw(3, finished, 1));
  CHECK(b.saw(6, finished, 2));
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("an oracle's regions waste what the next power of two rounds up") {
  Bench b(contiguous(KvAllocation::ContiguousOracle));
  b.arrive(request(0, 0, 10, 3));  // 13 slots of 16
  b.arrive(request(1, 0, 17, 3));  // 20 slots of 32
  b.step();
  const engine::SlotUse use = b.replica->slots(0);
  CHECK(use.internal == 0);
  CHECK(use.external == 3 + 12);
  CHECK(use.tokens + use.reserved == 33);
}

TEST_CASE("shares of the slots are those of every step, by their length") {
  Bench b(contiguous(KvAllocation::ContiguousMax));
  b.arrive(request(0, 0, 10, 2));  // two steps: 10 tokens, then 11
  while (b.step()) {
  }
  const engine::SlotTime& slots = b.replica->totals().slots;
  CHECK(static_cast<double>(slots.tokens) == Approx(21.0 * us));
  CHECK(static_cast<double>(slots.reserved) == Approx(3.0 * us));
  CHECK(static_cast<double>(slots.internal) == Approx(40.0 * us));
  CHECK((slots.external == 0));
}

TEST_CASE("a paged pool wastes only the empty slots of last blocks") {
  const bool plain = GENERATE(true, false);
  engine::Config c = contiguous(KvAllocation::Paged);
  Bench b(c, plain);
  b.arrive(request(0, 0, 10, 3));
  b.arrive(request(1, 0, 17, 3));
  b.step();
  b.step();
  const engine::SlotTime& slots = b.replica->totals().slots;
  CHECK(static_cast<double>(slots.tokens) == Approx((27.0 + 29.0) * us));
  CHECK(static_cast<double>(slots.internal) == Approx((6 + 15 + 5 + 14.0) * us));
  CHECK((slots.reserved + slots.external == 0));
}
