#include "microbench/host/sm_groups.hpp"

#include "catch.hpp"
#include "core/random.hpp"

using namespace servecast::microbench;

namespace {

// 40 SMs and 24 lines; SM i is on side(i), line j on side(7 j).
std::vector<std::vector<double>> latencies(double far, double noise) {
  servecast::core::Random random(5, "test/latencies");
  std::vector<std::vector<double>> out(40, std::vector<double>(24));
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 24; ++j) {
      const bool apart = (i % 5 < 2) != (j * 7 % 3 == 1);
      // SMs and lines differ among themselves, by more than near and far do
      out[i][j] =
          200 + 2 * static_cast<double>(i) + 3 * static_cast<double>(j) + (apart ? far : 0) + noise * random.normal();
    }
  return out;
}

}  // namespace

TEST_CASE("SMs and lines are told apart by latency under noise and their own offsets") {
  const SmGroups g = find_groups(latencies(60, 8));
  CHECK(g.split);
  for (std::size_t i = 0; i < 40; ++i) CHECK(g.sm[i] == (i % 5 < 2 ? 0 : 1));
  for (std::size_t j = 0; j < 24; ++j) CHECK(g.line[j] == (j * 7 % 3 == 1 ? 0 : 1));
}

TEST_CASE("without a far part there is one group") {
  const SmGroups g = find_groups(latencies(0, 4));
  CHECK(!g.split);
  CHECK(g.sm == std::vector<std::int32_t>(40, 0));
  CHECK(g.line == std::vector<std::int32_t>(24, 0));
}
