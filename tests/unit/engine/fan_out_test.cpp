// Requests for several sequences on engines that know single ones, each worked out by hand: who computes the prompt,
// what is shared, and what the outside sees.
#include "engine/fan_out.hpp"

#include "bench.hpp"
#include "support/scripted_source.hpp"

#include <algorithm>

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config three(bool caching) {
  engine::Config c;
  c.block_size = 4;
  c.blocks = 100;
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 64;
  c.enable_prefix_caching = caching;
  c.async_scheduling = false;
  c.samples = 3;
  return c;
}

std::int64_t count(const Recorder& seen, int kind) {
  return std::count_if(seen.events.begin(), seen.events.end(),
                       [kind](const Recorder::Event& event) { return std::get<1>(event) == kind; });
}

}  // namespace

TEST_CASE("sequences share the prompt's full blocks through the cache, and each computes the rest") {
  engine::Config c = three(true);
  c.loop = GENERATE(engine::Loop::Automatic, engine::Loop::Plain);
  Bench b(c);
  b.arrive(request(5, 0, 10, 4));
  b.step();
  CHECK(b.load().running == 3);
  CHECK(b.load().blocks_used == 2 + 3);  // two full blocks of the prompt once, the last one for each
  CHECK(b.replica->totals().prefill_tokens == 10 + 2 + 2);
  REQUIRE(b.seen.lookups.size() == 3);
  CHECK(b.seen.lookups[0] == std::tuple(5u, 10, 0, 0));
  CHECK(b.seen.lookups[1] == std::tuple(5u, 10, 8, 0));
  CHECK(b.saw(1, first_token, 5));
  CHECK(count(b.seen, first_token) == 1);
  b.step(), b.step(), b.step();
  CHECK(b.saw(4, finished, 5));
  CHECK(count(b.seen, finished) == 1);
  CHECK(b.seen.gaps[us] == 9);
  CHECK(b.replica->totals().decode_tokens == 9);
  CHECK_FALSE(b.replica->has_work());
  CHECK(b.load().blocks_used == 0);
}

TEST_CASE("a prompt of whole blocks recomputes its last one for each sequence, and without a cache all of it") {
  Bench aligned(three(true));
  aligned.arrive(request(0, 0, 8, 2));
  aligned.step();
  CHECK(aligned.replica->totals().prefill_tokens == 8 + 4 + 4);
  Bench uncached(three(false));
  uncached.arrive(request(0, 0, 8, 2));
  uncached.step();
  CHECK(uncached.replica->totals().prefill_tokens == 24);
  CHECK(uncached.load().blocks_used == 6);
}

TEST_CASE("seats count sequences: a request begins with the first and ends with the last") {
  engine::Config c = three(true);
  c.max_num_seqs = 2;
  Bench b(c);
  b.arrive(request(0, 0, 6, 3));
  b.step();
  CHECK(b.load().running == 2);
  CHECK(b.load().waiting == 1);
  while (b.step()) {
  }
  CHECK(b.saw(1, first_token, 0));
  CHECK(b.saw(6, finished, 0));  // the third starts when the first two have ended
  CHECK(count(b.seen, finished) == 1);
}

TEST_CASE("contents that requests share before their own are kept, and the first sequence goes on with the chain") {
  engine::Config c = three(true);
  Bench b(c);
  workload::Request first = request(0, 0, 12, 4);
  first.content.pieces.push_back({77, 8});
  first.content.tail = 88;
  b.arrive(first);
  while (b.step()) {
  }
  workload::Request next = request(1, 0, 17, 1);  // continues the answer of the first sequence
  next.content.pieces.push_back({77, 8});
  next.content.pieces.push_back({88, 15});
  b.arrive(next);
  b.step();
  CHECK(std::get<2>(b.seen.lookups[3]) == 12);  // the 15th token, the last of the answer, was never computed
}

TEST_CASE("SGLang sends the prompt ahead, and the sequences when its scheduler has learnt of the end") {
  engine::Config c = three(true);
  c.steps = engine::StepKind::PrefillFirst;
  c.block_size = 1;
  c.async_scheduling = GENERATE(false, true);
  const std::int64_t late = c.async_scheduling ? 1 : 0;
  CHECK(engine::fan_out(c) == 4);
  Bench b(c);
  b.arrive(request(0, 0, 10, 4));
  b.step();
  CHECK(count(b.seen, first_token) == 0);
  CHECK(b.replica->totals().prefill_tokens == 10);
  CHECK(b.load().waiting == (late > 0 ? 0 : 3));
  while (b.step()) {
  }
  CHECK(b.saw(2 + late, first_token, 0));
  CHECK(b.replica->totals().prefill_tokens == 13);  // the last token for each
  CHECK(b.saw(5 + late, finished, 0));
  CHECK(count(b.seen, finished) == 1);
  CHECK(b.seen.gaps[us] == 9);
  CHECK_FALSE(b.replica->has_work());
}
