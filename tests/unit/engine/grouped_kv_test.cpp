// Groups of layers over one pool, case by case.
#include "engine/grouped_kv.hpp"

#include "catch.hpp"
#include "engine/constant_time.hpp"
#include "support/recorder.hpp"

using namespace servecast;
using engine::GroupedKv;
using engine::KvKeeps;
using engine::PageTable;

namespace {

engine::Config config_of(std::vector<engine::KvKind> kinds, std::int64_t pages) {
  engine::Config c;
  c.kinds = std::move(kinds);
  c.block_size = 16;
  c.blocks = pages;
  c.max_model_len = 4096;
  c.async_scheduling = false;
  return c;
}

const engine::KvKind full{KvKeeps::Everything, 1, 16, 0, 0};
const engine::KvKind windows{KvKeeps::Window, 2, 16, 32, 0};
const engine::KvKind states{KvKeeps::State, 3, 16, 0, 0};

struct Prompt {
  engine::SequenceState s;
  PageTable table;
};

Prompt prompt(std::uint32_t id, std::int32_t tokens, std::uint64_t chain, std::int32_t shared) {
  Prompt p;
  p.s.request.id = {id};
  p.s.request.prompt_tokens = tokens;
  p.s.request.hidden.output_tokens = 100;
  if (shared > 0) p.s.request.content.pieces = {{chain, shared}};
  return p;
}

// Starts with what is cached and computes up to `tokens`; returns the hit, -1 where it may not start.
std::int32_t start(GroupedKv& kv, Prompt& p, std::int32_t tokens) {
  const engine::PrefixHits hits = kv.find(p.s, p.table);
  if (!kv.admits(p.s, p.table, hits, tokens, 0, true)) return -1;
  p.s.computed = tokens;
  kv.start(p.s, p.table, hits);
  kv.publish(p.s, p.table);
  p.s.settled = p.s.computed;
  return hits.tokens;
}

void grow(GroupedKv& kv, Prompt& p, std::int32_t tokens) {
  REQUIRE(kv.grow(p.s, p.table, tokens));
  p.s.computed = p.s.settled = tokens;
  kv.publish(p.s, p.table);
}

void end(GroupedKv& kv, Prompt& p) {
  kv.retire(p.table);
  kv.release(p.table);
}

}  // namespace

TEST_CASE("a full group and two with a window of 32 hold 7 + 2 + 2 blocks of a sequence of 112") {
  GroupedKv kv(config_of({full, windows}, 100), true);
  Prompt p = prompt(1, 112, 1, 0);
  start(kv, p, 111);
  CHECK(kv.used() == 21);  // one step computed them all, and its pages stay until it has ended
  grow(kv, p, 112);
  CHECK(kv.used() == 7 + 2 + 2);
  CHECK(kv.slots(112).internal == 0);
  CHECK(kv.slots(112).tokens == 11 * 16);
  end(kv, p);
  CHECK(kv.used() == 0);
}

TEST_CASE("pages behind a window wait for the steps that read them under an asynchronous scheduler") {
  GroupedKv kv(config_of({full, windows}, 100), true);
  Prompt p = prompt(1, 200, 1, 0);
  start(kv, p, 100);
  p.s.settled = 0;  // the step runs still
  REQUIRE(kv.grow(p.s, p.table, 160));
  CHECK(kv.used() == 30);
  p.s.computed = 160;
  p.s.settled = 100;
  REQUIRE(kv.grow(p.s, p.table, 161));
  CHECK(kv.used() == 11 + 2 * (11 - 4));
}

TEST_CASE("a chunk's pages go when the chunk is full") {
  GroupedKv kv(config_of({full, {KvKeeps::Chunk, 1, 16, 64, 0}}, 100), true);
  Prompt p = prompt(1, 200, 1, 0);
  start(kv, p, 63);
  grow(kv, p, 64);
  CHECK(kv.used() == 8);
  grow(kv, p, 65);
  CHECK(kv.used() == 5 + 1);
}

TEST_CASE("of a window the last tokens before the hit are enough, and they are needed") {
  GroupedKv kv(config_of({full, {KvKeeps::Window, 1, 16, 32, 0}}, 19), true);
  Prompt a = prompt(1, 112, 7, 112);
  start(kv, a, 111);
  grow(kv, a, 112);  // pages 0 to 4 of the window are free, the last first
  CHECK(kv.used() == 9);
  Prompt other = prompt(2, 80, 8, 0);
  start(kv, other, 80);  // five pages that nobody used and the five of the window
  CHECK(kv.used() == 19);
  end(kv, other);
  end(kv, a);
  Prompt again = prompt(3, 113, 7, 112);
  CHECK(kv.find(again.s, again.table).tokens == 112);
  Prompt shorter = prompt(4, 80, 7, 80);
  CHECK(kv.find(shorter.s, shorter.table).tokens == 0);
  CHECK(start(kv, again, 113) == 112);
  CHECK(again.table.ids[1][4] == -1);
  CHECK(again.table.ids[1][5] >= 0);
}

TEST_CASE("a cached prefix ends where a state was kept") {
  GroupedKv kv(config_of({full, states}, 100), true);
  Prompt a = prompt(1, 60, 7, 60);
  CHECK(kv.split(a.s, 0, 20) == 16);
  CHECK(kv.split(a.s, 0, 50) == 48);
  CHECK(kv.split(a.s, 0, 15) == 0);
  CHECK(kv.split(a.s, 48, 12) == 12);
  start(kv, a, 48);
  CHECK(kv.used() == 3 + 3);  // one state after 48 tokens
  Prompt twin = prompt(2, 60, 7, 60);
  CHECK(start(kv, twin, 60) == -1);  // the state is being computed in this very step
  kv.begin_pass();
  grow(kv, a, 60);
  CHECK(kv.used() == 4 + 6);  // the state before this step's is read by it
  grow(kv, a, 61);
  CHECK(kv.used() == 4 + 3);
  CHECK(start(kv, twin, 60) == 48);
  Prompt shorter = prompt(3, 40, 7, 40);
  CHECK(kv.find(shorter.s, shorter.table).tokens == 0);  // no state after 32
}

TEST_CASE("an encoder's pages are there from the first token and never cached") {
  engine::Config c = config_of({full, {KvKeeps::Fixed, 1, 16, 0, 5}}, 11);
  c.enable_prefix_caching = false;
  GroupedKv kv(c, true);
  Prompt a = prompt(1, 16, 7, 16), b = prompt(2, 16, 7, 16);
  CHECK(start(kv, a, 16) == 0);
  CHECK(kv.used() == 6);
  CHECK(start(kv, b, 16) == -1);  // five pages are left
  end(kv, a);
  CHECK(start(kv, b, 16) == 0);
}

TEST_CASE("admission counts a window at most as much as is ever held of it") {
  engine::Config c = config_of({full, windows}, 100);
  c.max_num_batched_tokens = 64;
  Prompt p = prompt(1, 1000, 1, 0);
  // 63 pages of the full group, and of each window ceil((31 + 64) / 16) + 1
  c.blocks = 63 + 2 * 7;
  GroupedKv enough(c, true);
  CHECK(start(enough, p, 64) == 0);
  c.blocks -= 1;
  GroupedKv short_of_one(c, true);
  CHECK(start(short_of_one, p, 64) == -1);
}

TEST_CASE("kinds that share a pool need the plain loop") {
  const test::RoundCost cost;
  CHECK(engine::needs_plain_loop(config_of({full, windows}, 100), cost) == "groups of layers share the pool of blocks");
  CHECK_FALSE(engine::needs_plain_loop(config_of({}, 100), cost));
}
