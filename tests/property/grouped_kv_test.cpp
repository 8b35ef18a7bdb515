// Groups of layers over one pool equal a naive KV cache over a million random operations: block tables of every group,
// hits, admissions, free and cached blocks; and nothing leaks. Counting pages equals keeping them one by one.
#include "engine/grouped_kv.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "engine/plain_loop.hpp"
#include "support/drive.hpp"
#include "support/naive_groups.hpp"
#include "support/recorder.hpp"

#include <memory>

using namespace servecast;
using engine::KvKeeps;
using engine::KvKind;

namespace {

std::int32_t pick(core::Random& random, std::int32_t low, std::int32_t high) {
  return low + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

// Kinds that occur together: full layers with windows, chunks or states, windows alone, an encoder beside full layers.
std::vector<KvKind> random_kinds(core::Random& random) {
  const std::int32_t size = std::int32_t{1} << random.below(4);
  std::vector<KvKind> kinds;
  const std::uint64_t with = random.below(6);
  if (with != 0) kinds.push_back({KvKeeps::Everything, pick(random, 1, 2), size, 0, 0});
  if (with <= 1 || with == 5)
    kinds.push_back(
        {KvKeeps::Window, pick(random, 1, 3), std::max(1, size >> random.below(2)), pick(random, 2, 40), 0});
  if (with == 2) kinds.push_back({KvKeeps::Chunk, pick(random, 1, 3), size, pick(random, 2, 40), 0});
  if (with == 3 || with == 5) kinds.push_back({KvKeeps::State, pick(random, 1, 3), size, 0, 0});
  if (with == 4) kinds.push_back({KvKeeps::Fixed, 1, size, 0, pick(random, 1, 3)});
  return kinds;
}

engine::Config random_config(core::Random& random) {
  engine::Config c;
  c.kinds = random_kinds(random);
  c.block_size = c.kinds[0].block_size;
  c.max_num_seqs = pick(random, 1, 12);
  c.max_num_batched_tokens = std::max({c.max_num_seqs, c.block_size, pick(random, 4, 80)});
  c.max_model_len = pick(random, 20, 160);
  c.reserve_full_isl = random.below(3) != 0;
  c.async_scheduling = random.below(2) == 0;
  c.watermark = random.below(4) == 0 ? 0.03 : 0.0;
  const std::int64_t in_flight = std::int64_t{c.max_num_batched_tokens} * (c.async_scheduling ? 2 : 1);
  for (const KvKind& k : c.kinds)
    c.blocks += std::int64_t{k.groups} * engine::most_pages(k, c.max_model_len, in_flight);
  c.blocks += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(3 * c.blocks)));
  c.blocks += 1 + static_cast<std::int64_t>(c.watermark * static_cast<double>(c.blocks));
  return c;
}

workload::Request random_request(core::Random& random, const engine::Config& c, std::uint32_t id, bool shared) {
  workload::Request r;
  r.id = {id};
  r.prompt_tokens = pick(random, 1, c.max_model_len - 1);
  r.hidden.output_tokens = pick(random, 1, c.max_model_len - r.prompt_tokens);
  if (!shared) return r;
  std::uint64_t chain = 1 + random.below(3);
  std::int32_t end = 0;
  for (std::uint64_t left = random.below(4); left > 0 && end < r.prompt_tokens; --left) {
    end = std::min(r.prompt_tokens, end + pick(random, 1, 60));
    r.content.pieces.push_back({chain, end});
    chain = chain * 4 + random.below(2);
  }
  if (random.below(3) == 0) r.content.tail = chain;
  return r;
}

// Sequences that start, grow, are preempted, come back and end, in both caches at once.
class Traffic {
 public:
  Traffic(std::uint64_t seed)
      : random_(seed, "test/grouped-kv"), config_(random_config(random_)), kv_(config_, true), naive_(config_) {}

  void step() {
    kv_.begin_pass();
    const std::uint64_t action = random_.below(12);
    if (action < 3 || live_.empty()) return start();
    const std::size_t i = static_cast<std::size_t>(random_.below(live_.size()));
    if (action < 10) return grow(i);
    leave(i, action == 10);
  }
  void drain() {
    while (!live_.empty()) leave(live_.size() - 1, false);
    REQUIRE(kv_.used() == 0);
    REQUIRE(kv_.references() == 0);
    REQUIRE(naive_.pool.free() == config_.blocks);
  }
  std::int64_t hits = 0, operations = 0, refused = 0;

 private:
  struct Live {
    engine::SequenceState s;
    engine::PageTable table;
    test::NaiveGroups::Tables naive;
  };

  void start() {
    auto live = std::make_unique<Live>();
    if (!waiting_.empty() && random_.below(2) == 0) {
      live = std::move(waiting_.back());
      waiting_.pop_back();
    } else {
      live->s.request = random_request(random_, config_, next_++, true);
    }
    engine::SequenceState& s = live->s;
    const engine::PrefixHits found = kv_.find(s, live->table);
    REQUIRE(found.tokens == naive_.longest_hit(s));
    const std::int32_t n = kv_.split(s, found.tokens, pick(random_, 1, s.tokens() - found.tokens));
    if (n == 0) return;
    const std::int64_t whole = naive_.need(s, found.tokens, s.tokens(), true);
    const std::int64_t now = naive_.need(s, found.tokens, found.tokens + n, false);
    const bool alone = live_.empty();
    const auto reserve = static_cast<std::int64_t>(config_.watermark * static_cast<double>(config_.blocks));
    const bool may =
        (config_.reserve_full_isl ? std::max(whole, now) : now) + (alone ? 0 : reserve) <= naive_.pool.free();
    REQUIRE(kv_.admits(s, live->table, found, found.tokens + n, 0, alone) == may);
    if (!may) {
      ++refused;
      return;
    }
    hits += found.tokens;
    s.computed = found.tokens + n;
    kv_.start(s, live->table, found);
    naive_.start(s, live->naive, found.tokens);
    publish(*live);
    live_.push_back(std::move(live));
  }

  void grow(std::size_t i) {
    Live& live = *live_[i];
    engine::SequenceState& s = live.s;
    s.settled = config_.async_scheduling ? s.settled + pick(random_, 0, s.computed - s.settled) : s.computed;
    if (s.computed == s.tokens()) {
      if (s.generated + 1 >= s.output()) return leave(i, false);
      ++s.generated;
    }
    const std::int32_t n =
        kv_.split(s, s.computed, std::min(config_.max_num_batched_tokens, pick(random_, 1, s.tokens() - s.computed)));
    if (n == 0) return;
    const bool grown = kv_.grow(s, live.table, s.computed + n);
    REQUIRE(grown == naive_.grow(s, live.naive, s.computed + n));
    if (!grown) {
      ++refused;
      return leave(i, true);
    }
    s.computed += n;
    publish(live);
  }

  void publish(Live& live) {
    kv_.publish(live.s, live.table);
    naive_.publish(live.s, live.naive);
    check(live);
  }

  void leave(std::size_t i, bool preempted) {
    std::unique_ptr<Live> live = std::move(live_[i]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!preempted) kv_.retire(live->table);
    kv_.release(live->table);
    naive_.release(live->naive);
    live->s.computed = live->s.settled = 0;
    ++operations;
    REQUIRE(kv_.total() - kv_.used() == naive_.pool.free());
    if (preempted) waiting_.push_back(std::move(live));
  }

  void check(const Live& live) {
    ++operations;
    REQUIRE(kv_.total() - kv_.used() == naive_.pool.free());
    REQUIRE(kv_.cached() == naive_.pool.cached());
    for (std::size_t g = 0; g < naive_.groups(); ++g) {
      const std::vector<int>& pages = live.naive.pages[g];
      const std::vector<memory::BlockId>& ids = live.table.ids[g];
      for (std::size_t page = 0; page < pages.size(); ++page)
        if (pages[page] != (page < ids.size() ? ids[page] : -1)) FAIL("group " << g << ", page " << page);
    }
  }

  core::Random random_;
  engine::Config config_;
  engine::GroupedKv kv_;
  test::NaiveGroups naive_;
  std::vector<std::unique_ptr<Live>> live_, waiting_;
  std::uint32_t next_ = 0;
};

}  // namespace

TEST_CASE("groups over one pool equal a naive cache over a million operations") {
  std::int64_t operations = 0, hits = 0, refused = 0;
  for (std::uint64_t seed = 0; operations < 1'050'000; ++seed) {
    Traffic traffic(seed);
    for (int i = 0; i < 1'000; ++i) traffic.step();
    traffic.drain();
    operations += traffic.operations, hits += traffic.hits, refused += traffic.refused;
  }
  CHECK(hits > 1'000'000);
  CHECK(refused > 10'000);
}

TEST_CASE("where requests share nothing, counting pages gives what keeping them one by one does") {
  std::int64_t preemptions = 0, hits = 0;
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    core::Random random(seed, "test/counted-pages");
    engine::Config config = random_config(random);
    config.enable_prefix_caching = random.below(5) != 0;
    config.stop = random.below(2) == 0 ? engine::Stop::Eos : engine::Stop::Length;
    std::vector<workload::Request> requests;
    std::int64_t t = 0;
    for (std::uint32_t i = 0; i < 40; ++i) {
      requests.push_back(random_request(random, config, i, false));
      requests.back().arrival = {t += static_cast<std::int64_t>(random.below(20'000'000))};
    }
    test::RoundCost cost;
    test::Recorder counted, kept;
    const auto a = engine::make_plain_loop(config, cost, counted, false);
    const auto b = engine::make_plain_loop(config, cost, kept, true);
    test::drive(*a, requests, false);
    test::drive(*b, requests, false);
    INFO("seed " << seed);
    REQUIRE(counted.events == kept.events);
    REQUIRE(counted.lookups == kept.lookups);
    REQUIRE(counted.gaps == kept.gaps);
    REQUIRE(a->totals() == b->totals());
    REQUIRE(a->load(0).blocks_used == 0);
    preemptions += a->totals().preemptions;
    for (const auto& lookup : counted.lookups) hits += std::get<2>(lookup);
  }
  CHECK(preemptions > 5'000);
  CHECK(hits > 10'000);
}
