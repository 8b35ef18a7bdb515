// Beams that continue others: as often as stated, each other beam as likely, and drawn only where somebody moves.
#include "engine/branching.hpp"

#include "catch.hpp"

#include <cmath>

using namespace servecast;

TEST_CASE("beams continue another one as often as turnover says, whichever it is") {
  constexpr std::int32_t width = 4;
  constexpr int steps = 20'000;
  engine::Ancestors ancestors({width, true, 0.2, 7}, {3});
  std::vector<std::int32_t> parents(width);
  std::vector<std::int64_t> followed(width, 0);
  std::int64_t moves = 0, quiet = 0;
  for (int step = 0; step < steps; ++step) {
    if (!ancestors.draw(parents)) {
      ++quiet;
      continue;
    }
    for (std::int32_t i = 0; i < width; ++i) {
      const std::int32_t parent = parents[static_cast<std::size_t>(i)];
      if (parent == i) continue;
      ++moves;
      ++followed[static_cast<std::size_t>(parent)];
    }
  }
  const double chance = 0.2 * 3 / 4;  // of a move to another beam than itself
  const double trials = width * static_cast<double>(steps);
  CHECK(std::abs(static_cast<double>(moves) - chance * trials) < 4 * std::sqrt(trials * chance * (1 - chance)));
  const double still = std::pow(1 - chance, width);
  CHECK(std::abs(static_cast<double>(quiet) - still * steps) < 4 * std::sqrt(steps * still * (1 - still)));
  for (const std::int64_t count : followed)
    CHECK(std::abs(static_cast<double>(count) - static_cast<double>(moves) / width) <
          4 * std::sqrt(static_cast<double>(moves) * 3 / 16));
}

TEST_CASE("without turnover no beam ever moves, and with all of it each moves unless it draws itself") {
  std::vector<std::int32_t> parents(3);
  engine::Ancestors never({3, true, 0, 1}, {0});
  engine::Ancestors always({3, true, 1, 1}, {0});
  std::int64_t moves = 0;
  for (int step = 0; step < 9000; ++step) {
    CHECK_FALSE(never.draw(parents));
    if (!always.draw(parents)) continue;
    for (std::int32_t i = 0; i < 3; ++i) moves += parents[static_cast<std::size_t>(i)] != i ? 1 : 0;
  }
  CHECK(std::abs(static_cast<double>(moves) - 18'000) < 4 * std::sqrt(27'000 * 2.0 / 9));
}
