// Hand-computed traces of the scheduler, run on both engines: round-number steps, every instant worked out in comments.
#include "bench.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config small() {
  engine::Config c;
  c.block_size = 4;
  c.blocks = 100;
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 256;
  c.enable_prefix_caching = false;
  c.async_scheduling = false;
  return c;
}

}  // namespace

TEST_CASE("a prompt beyond the budget is computed in chunks and emits its first token with the last one") {
  const bool plain = GENERATE(true, false);
  Bench b(small(), plain);
  b.arrive(request(0, 0, 130, 3));  // 64 + 64 + 2
  b.step();
  b.step();
  CHECK(b.seen.events.empty());
  b.step();
  CHECK(b.saw(3, first_token, 0));
  b.step();
  b.step();
  CHECK(b.saw(5, finished, 0));
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("decoders are served before prefill chunks and share the budget") {
  const bool plain = GENERATE(true, false);
  engine::Config c = small();
  c.max_num_batched_tokens = 10;
  Bench b(c, plain);
  b.arrive(request(0, 0, 4, 20));
  b.step();                        // request 0 prefills
  b.arrive(request(1, 0, 20, 2));  // gets 9 tokens a step beside one decoder: 9 + 9 + 2
  b.step();
  b.step();
  CHECK_FALSE(b.saw(3, first_token, 1));
  b.step();
  CHECK(b.saw(4, first_token, 1));
}

TEST_CASE("when the pool is full the youngest request is preempted, goes to the queue's head, and none is admitted") {
  const bool plain = GENERATE(true, false);
  engine::Config c = small();
  c.blocks = 4;  // 16 tokens
  c.max_model_len = 16;
  Bench b(c, plain);
  b.arrive(request(0, 0, 7, 6));  // 2 blocks
  b.arrive(request(1, 0, 8, 6));  // 2 blocks; its next token needs a third
  b.step();                       // both prefill; 4 blocks used
  CHECK(b.load().blocks_used == 4);
  b.arrive(request(2, 0, 1, 1));
  b.step();  // request 0 writes token 8 into its second block; request 1 has no block: out it goes
  CHECK(b.saw(1, preempted, 1));
  CHECK(b.load().running == 1);
  CHECK(b.load().waiting == 2);  // 1 at the head, 2 behind it, not admitted in this step
  while (b.step()) {
  }
  CHECK(b.saw(6, finished, 0));  // prefill + 5 decode steps
  // Request 1 (8 + 1 tokens, 3 blocks) waits for request 0 (3 blocks) to end at 6, recomputes, and needs 5 more tokens.
  CHECK(b.saw(11, finished, 1));
  CHECK(b.saw(7, finished, 2));  // admitted behind request 1 in the same step
}

TEST_CASE("the admission gate wants room for the whole prompt, not for its first chunk") {
  const bool plain = GENERATE(true, false);
  const bool gate = GENERATE(true, false);
  engine::Config c = small();
  c.block_size = 16;
  c.blocks = 20;
  c.max_num_batched_tokens = 64;  // a chunk needs 4 blocks
  c.max_model_len = 256;
  c.reserve_full_isl = gate;
  Bench b(c, plain);
  b.arrive(request(0, 0, 160, 64));  // takes 10 blocks in three chunks and then decodes
  b.step();
  b.step();
  b.step();
  REQUIRE(b.load().blocks_total - b.load().blocks_used == 10);
  b.arrive(request(1, 0, 190, 1));  // 12 blocks
  b.step();
  CHECK(b.load().running == (gate ? 1 : 2));
}

TEST_CASE("one prefill at a time, b equal prompts arriving together wait (b + 1) / 2 prefills on average") {
  const bool plain = GENERATE(true, false);
  for (const std::uint32_t b : {1u, 2u, 7u, 8u}) {
    engine::Config c = small();
    c.max_num_batched_tokens = 64;
    Bench bench(c, plain);
    for (std::uint32_t i = 0; i < b; ++i) bench.arrive(request(i, 0, 64, 1));
    while (bench.step()) {
    }
    double total = 0;
    for (const auto& [time, kind, id, value] : bench.seen.events) {
      if (kind == first_token) total += static_cast<double>(time) / us;
    }
    CHECK(total / b == Approx((b + 1) / 2.0));
  }
}

TEST_CASE("a fully cached prompt recomputes its last block") {
  engine::Config c = small();
  c.block_size = 16;
  c.enable_prefix_caching = true;
  Bench b(c, true);
  workload::Request first = request(0, 0, 64, 1);
  first.content.pieces.push_back({77, 64});
  workload::Request second = first;
  second.id = {1};
  b.arrive(first);
  b.step();
  b.arrive(second);
  b.step();
  REQUIRE(b.seen.lookups.size() == 2);
  CHECK(std::get<2>(b.seen.lookups[0]) == 0);
  CHECK(std::get<1>(b.seen.lookups[1]) == 64);
  CHECK(std::get<2>(b.seen.lookups[1]) == 48);  // 16 of 64 recomputed
}

TEST_CASE("blocks published in a step are hit by a later admission of the same step") {
  engine::Config c = small();
  c.block_size = 16;
  c.enable_prefix_caching = true;
  c.max_num_batched_tokens = 256;
  Bench b(c, true);
  for (std::uint32_t i = 0; i < 2; ++i) {
    workload::Request r = request(i, 0, 64, 1);
    r.content.pieces.push_back({5, 64});
    b.arrive(r);
  }
  b.step();
  CHECK(std::get<2>(b.seen.lookups.at(1)) == 48);
}

TEST_CASE("a session's next turn hits the blocks of its previous answer") {
  engine::Config c = small();
  c.block_size = 16;
  c.enable_prefix_caching = true;
  Bench b(c, true);
  workload::Request turn = request(0, 0, 20, 30);  // 49 tokens stored at the end: three full blocks
  turn.content.tail = 900;
  b.arrive(turn);
  while (b.step()) {
  }
  workload::Request next = request(1, 0, 60, 1);
  next.content.tail = 900;
  b.arrive(next);
  b.step();
  CHECK(std::get<2>(b.seen.lookups.at(1)) == 48);
}

TEST_CASE("asynchronous scheduling gives a finished request's blocks and seat back one step later") {
  const bool plain = GENERATE(true, false);
  engine::Config c = small();
  c.async_scheduling = true;
  c.max_num_seqs = 2;
  Bench b(c, plain);
  b.arrive(request(0, 0, 4, 2));
  b.arrive(request(1, 0, 4, 9));
  b.arrive(request(2, 0, 4, 1));
  b.step();
  b.step();
  CHECK(b.saw(2, finished, 0));
  CHECK(b.load().waiting == 1);
  b.step();  // the seat is still taken
  CHECK(b.load().waiting == 1);
  b.step();  // now request 2 gets it
  CHECK(b.saw(4, finished, 2));
}

TEST_CASE("an end-of-sequence stop wastes one slot under asynchronous scheduling, a length stop none") {
  const bool plain = GENERATE(true, false);
  const auto stop = GENERATE(engine::Stop::Eos, engine::Stop::Length);
  engine::Config c = small();
  c.async_scheduling = true;
  c.stop = stop;
  Bench b(c, plain);
  b.arrive(request(0, 0, 4, 3));
  b.arrive(request(1, 0, 4, 9));
  while (b.step()) {
  }
  CHECK(b.replica->totals().wasted_slots == (stop == engine::Stop::Eos ? 2 : 0));
  CHECK(b.replica->totals().decode_tokens == 2 + 8);
}

TEST_CASE("windowed attention sums contexts cut to the window") {
  struct Probe : UnitCost {
    mutable std::vector<std::int64_t> windowed;
    cost::StepTime step(const cost::StepShape& s) const override {
      windowed.push_back(s.decode_context_windowed);
      return UnitCost::step(s);
    }
  } cost;
  cost.window = 6;
  test::Recorder seen;
  auto replica = engine::make_plain_loop(small(), cost, seen);
  replica->enqueue(request(0, 0, 4, 5), 0);
  core::Time now{0};
  while (replica->has_work()) {
    const auto run = replica->advance(now, now, {});
    replica->commit();
    now = run.end;
  }
  CHECK(cost.windowed == std::vector<std::int64_t>{0, 5, 6, 6, 6});
}
