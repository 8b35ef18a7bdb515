#include "microbench/host/routing.hpp"

#include "catch.hpp"

#include <algorithm>
#include <numeric>
#include <set>

using namespace servecast::microbench;

namespace {

bool distinct_per_token(const Routing& r, const Experts& p) {
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    std::multiset<std::int32_t> of;
    for (std::int64_t s = 0; s < p.top_k; ++s) of.insert(r.expert[static_cast<std::size_t>(t * p.top_k + s)]);
    of.erase(-1);
    if (std::set<std::int32_t>(of.begin(), of.end()).size() != of.size()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("balanced routing gives every expert the same and no token an expert twice") {
  const Experts p{64, 128, 128, 8, 32, 1, 0};
  const Routing r = route(p);
  CHECK(r.rows == 512);
  CHECK(distinct_per_token(r, p));
  for (std::int32_t e = 0; e < 32; ++e) CHECK(std::count(r.expert.begin(), r.expert.end(), e) == 16);
}

TEST_CASE("skewed routing keeps every copy and no token has an expert twice") {
  for (const std::int64_t tokens : {1, 3, 16, 1000}) {
    const Experts p{tokens, 128, 128, 8, 128, 1, 1.2};
    const Routing r = route(p);
    CHECK(r.rows == tokens * 8);
    CHECK(distinct_per_token(r, p));
    CHECK(*std::min_element(r.expert.begin(), r.expert.end()) >= 0);
    CHECK(*std::max_element(r.expert.begin(), r.expert.end()) < 128);
  }
}

TEST_CASE("the busiest rank has at least its share of the copies, and only its own experts") {
  const Experts p{256, 128, 128, 8, 128, 8, 1.2};
  const Routing r = route(p);
  CHECK(r.local_experts == 16);
  CHECK(r.rows >= 256);
  CHECK(r.rows == static_cast<std::int64_t>(r.expert.size()) - std::count(r.expert.begin(), r.expert.end(), -1));
  CHECK(*std::max_element(r.expert.begin(), r.expert.end()) < 16);
  CHECK(distinct_per_token(r, p));
}
