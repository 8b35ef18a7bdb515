#include "microbench/host/layouts.hpp"

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

using namespace servecast::microbench;

TEST_CASE("scattered blocks are a permutation, and neighbours of a sequence lie apart") {
  for (const std::int64_t blocks : {1, 2, 3, 4, 16, 97, 1024, 65536}) {
    const std::int64_t step = layout::scatter_step(blocks);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < blocks; ++i) seen.insert(layout::scattered(i, step, blocks));
    CHECK(static_cast<std::int64_t>(seen.size()) == blocks);
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == blocks - 1);
  }
  CHECK(layout::scattered(1, layout::scatter_step(1024), 1024) > 1);
}

TEST_CASE("cache offsets of all tokens and heads are distinct and fill the cache") {
  const std::int64_t blocks = 3, heads = 2, dim = 4;
  std::set<std::int64_t> seen;
  for (std::int64_t b = 0; b < blocks; ++b)
    for (std::int64_t t = 0; t < layout::kv_block; ++t)
      for (std::int64_t h = 0; h < heads; ++h) seen.insert(layout::kv_offset(b, t, h, heads, dim));
  CHECK(static_cast<std::int64_t>(seen.size()) == blocks * layout::kv_block * heads);
  CHECK(*seen.rbegin() == blocks * layout::kv_block * heads * dim - dim);
  // beyond 32 bits
  CHECK(layout::kv_offset(std::int64_t{1} << 24, 15, 7, 8, 128) == ((std::int64_t{1} << 28) + 15) * 1024 + 896);
}

TEST_CASE("rows of a kv head run over heads of its group, then over queries") {
  CHECK(layout::row_query(7, 4) == 1);
  CHECK(layout::row_head(7, 4) == 3);
  CHECK(layout::visible_keys(0, 100) == 101);
  CHECK(layout::visible_keys(4, 0) == 5);
}

TEST_CASE("parts of the keys cover every tile once") {
  for (const std::int64_t tiles : {1, 2, 7, 64, 1000})
    for (const std::int64_t splits : {1, 2, 3, 64}) {
      std::int64_t next = 0;
      for (std::int64_t s = 0; s < splits; ++s) {
        CHECK(layout::split_begin(s, splits, tiles) == next);
        next = layout::split_begin(s + 1, splits, tiles);
      }
      CHECK(next == tiles);
    }
  CHECK(layout::splits_for(8, 8192, 148) == 64);
  CHECK(layout::splits_for(8, 256, 148) == 2);
  CHECK(layout::splits_for(100000, 8192, 148) == 1);
  CHECK(layout::splits_for(1, 1, 148) == 1);
}

TEST_CASE("registers of one mma cover each matrix once") {
  std::multiset<std::pair<int, int>> a, b, c;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 2; ++i) a.insert({layout::a_row(lane, r), layout::a_column(lane, r) + i});
    for (int r = 0; r < 2; ++r)
      for (int i = 0; i < 2; ++i) b.insert({layout::b_k(lane, r) + i, layout::b_column(lane)});
    for (int e = 0; e < 4; ++e) c.insert({layout::accumulator_row(lane, e), layout::accumulator_column(lane, e)});
  }
  const auto covers = [](const std::multiset<std::pair<int, int>>& m, int rows, int columns) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (m.count({i, j}) != 1) return false;
    return static_cast<int>(m.size()) == rows * columns;
  };
  CHECK(covers(a, 16, 16));
  CHECK(covers(b, 16, 8));
  CHECK(covers(c, 16, 8));
}

TEST_CASE("a product by register layouts is the product of the matrices") {
  // A warp's mma on the host: what each lane holds, multiplied as the instruction defines it.
  int a[16][16], b[16][8], expected[16][8] = {};
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 16; ++k) a[i][k] = (i * 7 + k * 3) % 11 - 5;
  for (int k = 0; k < 16; ++k)
    for (int j = 0; j < 8; ++j) b[k][j] = (k * 5 + j) % 7 - 3;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 16; ++k) expected[i][j] += a[i][k] * b[k][j];
  int registers_a[16][16] = {}, registers_b[16][8] = {};
  for (int lane = 0; lane < 32; ++lane)
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < 4; ++r) {
        const int i = layout::a_row(lane, r), k = layout::a_column(lane, r) + half;
        registers_a[i][k] += a[i][k];
      }
      for (int r = 0; r < 2; ++r) {
        const int k = layout::b_k(lane, r) + half, j = layout::b_column(lane);
        registers_b[k][j] += b[k][j];
      }
    }
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < 4; ++e) {
      const int i = layout::accumulator_row(lane, e), j = layout::accumulator_column(lane, e);
      int sum = 0;
      for (int k = 0; k < 16; ++k) sum += registers_a[i][k] * registers_b[k][j];
      CHECK(sum == expected[i][j]);
    }
}

TEST_CASE("accumulators of two key tiles are the operand of the next product") {
  // p[row][key] leaves the score product as accumulators of 8-key tiles and enters the value product as a 16-key
  // operand.
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < 4; ++r) {
      const int tile = r / 2, first = r % 2 * 2;
      CHECK(layout::a_row(lane, r) == layout::accumulator_row(lane, first));
      CHECK(layout::a_column(lane, r) == 8 * tile + layout::accumulator_column(lane, first));
    }
}

TEST_CASE("block scales of a padded tensor have places of their own within its bytes") {
  for (const std::int64_t rows : {1, 128, 130, 300})
    for (const std::int64_t k : {16, 64, 80, 256}) {
      std::set<std::int64_t> seen;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t g = 0; g < k / layout::scale_group; ++g) seen.insert(layout::scale_offset(r, g, k));
      CHECK(static_cast<std::int64_t>(seen.size()) == rows * (k / layout::scale_group));
      CHECK(*seen.rbegin() < layout::scale_bytes(rows, k));
    }
  CHECK(layout::scale_offset(0, 1, 256) == 1);
  CHECK(layout::scale_offset(1, 0, 256) == 16);
  CHECK(layout::scale_offset(32, 0, 256) == 4);
  CHECK(layout::scale_offset(0, 4, 256) == 512);
  CHECK(layout::scale_offset(128, 0, 256) == 2048);
}

TEST_CASE("tiles of a grouped product know their expert") {
  const std::vector<std::int64_t> rows = {0, 1, 64, 65, 0, 200, 0};
  std::vector<std::int32_t> before = {0};
  for (const std::int64_t r : rows)
    before.push_back(before.back() + static_cast<std::int32_t>(layout::ceil_div(r, layout::row_tile)));
  const auto experts = static_cast<std::int64_t>(rows.size());
  std::vector<std::int64_t> found;
  for (std::int64_t t = 0; t < before.back(); ++t) found.push_back(layout::expert_of_tile(before.data(), experts, t));
  CHECK(found == std::vector<std::int64_t>{1, 2, 3, 3, 5, 5, 5, 5});
  CHECK(before.back() <= layout::most_tiles(330, experts));
  CHECK(layout::most_tiles(3, 128) == 3);
}
