// SGLang's rules, each worked out by hand: what runs in which step, who is admitted, who is retracted, what is shared.
#include "bench.hpp"
#include "engine/new_token_ratio.hpp"
#include "support/scripted_source.hpp"

using namespace servecast;
using namespace servecast::test;

namespace {

engine::Config sglang(std::int64_t tokens) {
  engine::Config c;
  c.steps = engine::StepKind::PrefillFirst;
  c.block_size = 1;
  c.blocks = tokens;
  c.max_num_seqs = 8;
  c.max_num_batched_tokens = 64;
  c.max_model_len = 128;
  c.enable_prefix_caching = false;
  c.async_scheduling = false;
  return c;
}

workload::Request sharing(std::uint32_t id, std::uint64_t chain, std::int32_t end, std::int32_t prompt,
                          std::int32_t output) {
  workload::Request r = request(id, 0, prompt, output);
  r.content.pieces.push_back({chain, end});
  return r;
}

}  // namespace

TEST_CASE("prompts run alone and first; decodes stand still meanwhile, unless mixed chunks are on") {
  const bool mixed = GENERATE(false, true);
  engine::Config c = sglang(300);
  c.enable_mixed_chunk = mixed;
  Bench b(c);
  b.arrive(request(0, 0, 4, 10));
  b.step();
  b.step();
  b.arrive(request(1, 0, 100, 2));  // 64 + 36, or 63 + 37 beside one decode
  while (b.step()) {
  }
  CHECK(b.saw(4, first_token, 1));
  CHECK(b.saw(5, finished, 1));
  CHECK(b.saw(mixed ? 10 : 12, finished, 0));
  CHECK(b.seen.gaps[3 * us] == (mixed ? 0 : 1));
}

TEST_CASE("admission adds a share of the running requests' output limits to what they hold") {
  // Request 0 holds 20 of 100 tokens and may make 39 more: 80 - 0.7 x 39 = 52.7, or 80 - 0.07 x 39 = 77.3.
  const bool bold = GENERATE(false, true);
  engine::Config c = sglang(100);
  if (bold) c.schedule_conservativeness = 0.1;
  Bench b(c);
  b.arrive(request(0, 0, 20, 40));
  b.step();
  b.arrive(request(1, 0, 20, 40));  // 60
  b.step();
  CHECK(b.load().running == (bold ? 2 : 1));
  while (b.step()) {
  }
  if (!bold) {
    CHECK(b.saw(40, finished, 0));
    CHECK(b.saw(41, first_token, 1));  // not tried again before a request has left
  }
}

TEST_CASE("the expected share falls over 600 decode steps to a floor and is estimated anew by a retraction") {
  engine::NewTokenRatio ratio(1.0);
  CHECK(ratio.value() == Approx(0.7));
  for (int i = 0; i < 300; ++i) ratio.decode_step();
  CHECK(ratio.value() == Approx(0.7 - 0.5 * (0.7 - 0.098)));
  for (int i = 0; i < 301; ++i) ratio.decode_step();
  CHECK(ratio.value() == Approx(0.098));
  ratio.retracted(30, 199, 2);  // (30 + 20 x 2) / (199 + 1)
  CHECK(ratio.value() == Approx(0.35));
  ratio.idle();
  CHECK(ratio.value() == Approx(0.7));
  CHECK(engine::NewTokenRatio(2.0).value() == Approx(1.0));
}

TEST_CASE("a full batch decodes once more after a request has left before the next one starts") {
  const bool async = GENERATE(false, true);
  engine::Config c = sglang(100);
  c.max_num_seqs = 2;
  c.async_scheduling = async;
  Bench b(c);
  b.arrive(request(0, 0, 4, 3));
  b.arrive(request(1, 0, 4, 9));
  b.arrive(request(2, 0, 4, 1));
  while (b.step()) {
  }
  CHECK(b.saw(3, finished, 0));
  // Asynchronous scheduling learns of an end one step late, whatever ended it, and spends one slot on it.
  CHECK(b.saw(async ? 6 : 5, finished, 2));
  CHECK(b.saw(10, finished, 1));
  CHECK(b.replica->totals().wasted_slots == (async ? 3 : 0));
  CHECK(b.replica->totals().decode_tokens == 2 + 8);
}

TEST_CASE("of requests with equally many tokens the longest prompt is retracted and joins the queue's end") {
  engine::Config c = sglang(60);
  c.max_model_len = 28;
  c.schedule_conservativeness = 0.1;
  Bench b(c);
  const std::int32_t prompts[] = {5, 8, 6};
  for (std::uint32_t i = 0; i < 3; ++i) {
    b.arrive(request(i, 0, prompts[i], 20));
    b.step();
  }
  // 19 tokens held at 3 us and three more a step: 58 at 16 us, when three do not fit. Every request has 14.
  while (b.step()) {
  }
  CHECK(b.saw(16, preempted, 1));
  CHECK(b.replica->totals().preemptions == 1);
  CHECK(b.saw(22, finished, 0));
  CHECK(b.saw(22, finished, 2));
  // Its 22 tokens and 6 to come exceed what is left until then. One prefill and five decodes.
  CHECK(b.saw(28, finished, 1));
}

TEST_CASE("the request with the fewest generated tokens is retracted, however short its prompt") {
  engine::Config c = sglang(45);
  c.max_model_len = 28;
  c.schedule_conservativeness = 0.1;
  Bench b(c);
  b.arrive(request(0, 0, 8, 20));
  for (int i = 0; i < 6; ++i) b.step();
  b.arrive(request(1, 0, 5, 20));
  // 13 + 5 tokens at 7 us, two more a step: 44 at 20 us.
  while (b.step()) {
  }
  CHECK(b.saw(20, preempted, 1));
  CHECK(b.saw(21, finished, 0));
}

TEST_CASE("prefixes are shared token by token, and the last token of a prompt is always computed") {
  engine::Config c = sglang(500);
  c.enable_prefix_caching = true;
  Bench b(c);
  b.arrive(sharing(0, 5, 37, 50, 1));
  b.step();
  b.arrive(sharing(1, 5, 37, 60, 1));
  b.step();
  b.arrive(sharing(2, 5, 37, 37, 1));
  b.step();
  REQUIRE(b.seen.lookups.size() == 3);
  CHECK(std::get<2>(b.seen.lookups[1]) == 37);
  CHECK(std::get<2>(b.seen.lookups[2]) == 36);
  CHECK(b.load().blocks_used == 0);
  CHECK(b.load().blocks_cached == 50 + 23);
}

TEST_CASE("pages of several tokens are shared whole") {
  engine::Config c = sglang(100);
  c.block_size = 16;
  c.enable_prefix_caching = true;
  Bench b(c);
  b.arrive(sharing(0, 5, 37, 50, 1));
  b.step();
  b.arrive(sharing(1, 5, 37, 60, 1));
  b.step();
  CHECK(std::get<2>(b.seen.lookups.at(1)) == 32);
}

TEST_CASE("what one chunk computed is shared before the prompt is complete") {
  engine::Config c = sglang(500);
  c.enable_prefix_caching = true;
  Bench b(c);
  b.arrive(sharing(0, 9, 100, 100, 1));
  b.step();
  b.arrive(sharing(1, 9, 100, 100, 1));
  b.step();  // 36 tokens of request 0 and 28 of request 1
  CHECK(std::get<2>(b.seen.lookups.at(1)) == 64);
}

TEST_CASE("a retracted request finds its prompt in the cache and its answer gone") {
  engine::Config c = sglang(60);
  c.max_model_len = 28;
  c.schedule_conservativeness = 0.1;
  c.enable_prefix_caching = true;
  Bench b(c);
  for (std::uint32_t i = 0; i < 3; ++i) {
    b.arrive(request(i, 0, 6, 20));
    b.step();
  }
  // 18 tokens and three more a step fill the pool when each has 15; of equals the last one goes.
  while (b.step()) {
  }
  REQUIRE(b.replica->totals().preemptions == 1);
  CHECK(b.seen.lookups.at(3) == std::tuple<std::uint32_t, std::int32_t, std::int32_t, int>{2, 21, 6, 1});
}

TEST_CASE("longest prefix first serves the request with more in the cache, first come first served does not") {
  const bool lpm = GENERATE(true, false);
  engine::Config c = sglang(500);
  c.enable_prefix_caching = true;
  c.max_num_seqs = 1;
  if (lpm) c.schedule_policy = engine::SchedulePolicy::Lpm;
  Bench b(c);
  b.arrive(sharing(0, 5, 40, 40, 1));
  b.step();
  b.arrive(request(1, 0, 30, 1));
  b.arrive(sharing(2, 5, 40, 50, 1));
  b.step();
  CHECK(b.saw(2, finished, lpm ? 2 : 1));
}

TEST_CASE("longest prefix first computes a prefix common to waiting requests once") {
  engine::Config c = sglang(500);
  c.enable_prefix_caching = true;
  c.max_num_seqs = 2;
  c.max_num_batched_tokens = 256;
  c.schedule_policy = engine::SchedulePolicy::Lpm;
  Bench b(c);
  b.arrive(sharing(1, 8, 50, 60, 1));
  b.arrive(sharing(2, 8, 50, 60, 1));
  b.arrive(request(3, 0, 20, 1));
  while (b.step()) {
  }
  REQUIRE(b.seen.lookups.size() == 3);
  CHECK(std::get<0>(b.seen.lookups[1]) == 3);
  CHECK(std::get<2>(b.seen.lookups[2]) == 50);
}
