// The tiers below the GPU equal the plainest model of them, a list in order of use for each, over a million random
// operations: insertions, reads, looks; what is demoted, promoted and lost follows from them.
#include "memory/tier_stack.hpp"

#include "catch.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <vector>

using namespace servecast;
using memory::ContentKey;
using memory::Tier;

namespace {

// Least recently used first.
struct NaiveTiers {
  std::size_t host_capacity, storage_capacity;
  std::vector<ContentKey> host, storage;
  std::int64_t demoted = 0;

  static bool has(const std::vector<ContentKey>& tier, ContentKey key) {
    return std::find(tier.begin(), tier.end(), key) != tier.end();
  }
  static void renew(std::vector<ContentKey>& tier, ContentKey key) {
    tier.erase(std::find(tier.begin(), tier.end(), key));
    tier.push_back(key);
  }
  Tier find(ContentKey key) const {
    if (has(host, key)) return Tier::Host;
    return has(storage, key) ? Tier::Storage : Tier::None;
  }
  void enter(ContentKey key) {
    host.push_back(key);
    if (host.size() <= host_capacity) return;
    const ContentKey out = host.front();
    host.erase(host.begin());
    if (storage_capacity == 0) return;
    if (has(storage, out)) {
      renew(storage, out);
      return;
    }
    storage.push_back(out);
    ++demoted;
    if (storage.size() > storage_capacity) storage.erase(storage.begin());
  }
  bool insert(ContentKey key) {
    if (has(host, key)) {
      renew(host, key);
      return false;
    }
    enter(key);
    return true;
  }
  void read(ContentKey key) {
    if (has(storage, key)) renew(storage, key);
    if (has(host, key))
      renew(host, key);
    else
      enter(key);
  }
};

}  // namespace

TEST_CASE("host and storage hold what a plain list of each holds, over a million operations") {
  std::int64_t operations = 0, promoted = 0, demoted = 0, lost = 0;
  for (std::uint64_t seed = 0; operations < 1'000'000; ++seed) {
    core::Random random(seed, "test/tiers");
    NaiveTiers naive{1 + random.below(24), random.below(3) == 0 ? 0 : random.below(40), {}, {}};
    memory::TierStack tiers(static_cast<std::int64_t>(naive.host_capacity),
                            static_cast<std::int64_t>(naive.storage_capacity));
    const std::uint64_t keys = 2 + random.below(120);
    std::vector<bool> known(keys + 1, false);
    for (int i = 0; i < 5000; ++i, ++operations) {
      INFO("seed " << seed << " operation " << i);
      const ContentKey key = 1 + random.below(keys);
      const Tier tier = tiers.find(key);
      REQUIRE(tier == naive.find(key));
      if (tier != Tier::None && random.below(2) == 0) {
        promoted += tier == Tier::Storage ? 1 : 0;
        tiers.read(key);
        naive.read(key);
      } else if (random.below(3) > 0) {
        lost += known[key] && tier == Tier::None ? 1 : 0;
        known[key] = true;
        REQUIRE(tiers.insert(key) == naive.insert(key));
      }
      REQUIRE(tiers.host_held() == static_cast<std::int64_t>(naive.host.size()));
      REQUIRE(tiers.storage_held() == static_cast<std::int64_t>(naive.storage.size()));
      REQUIRE(tiers.demoted() == naive.demoted);
    }
    for (ContentKey key = 1; key <= keys; ++key) REQUIRE(tiers.find(key) == naive.find(key));
    demoted += naive.demoted;
  }
  CHECK(promoted > 10'000);
  CHECK(demoted > 10'000);
  CHECK(lost > 10'000);
}

TEST_CASE("without host memory nothing is kept, whatever storage there is") {
  memory::TierStack tiers(0, 100);
  CHECK_FALSE(tiers.insert(1));
  CHECK(tiers.find(1) == Tier::None);
  CHECK(tiers.empty());
}
