// What holds of every scheme on random tensors.
#include "catch.hpp"
#include "core/random.hpp"
#include "precision/distribution.hpp"
#include "precision/quantise.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace servecast::precision;

namespace {

constexpr std::int64_t rows = 4;
constexpr std::int64_t columns = 150;  // blocks of 16, 32 and 128 are cut off at the end

std::vector<float> tensor(int round) {
  const Law law = static_cast<Law>(round % 3);
  return draw({law, 3, round % 2 == 0 ? 0.02 : 0.0, 20}, rows, columns, static_cast<std::uint64_t>(round), "property");
}

std::vector<float> through(const Scheme& s, const std::vector<float>& values) {
  return dequantise(quantise(s, values, rows, columns));
}

// Rounding within half a step of the larger of two neighbours: relative for floating elements.
double relative_bound(Element e) {
  switch (e) {
    case Element::E2M1: return 0x1p-2;
    case Element::E4M3: return 0x1p-4;
    case Element::E5M2: return 0x1p-3;
    case Element::BFloat16: return 0x1p-8;
    case Element::Float16: return 0x1p-11;
    default: return 0;
  }
}

// Half a step at the bottom of the range, over the largest value.
double floor_bound(Element e) {
  switch (e) {
    case Element::E2M1: return 0.25 / 6.0;
    case Element::E4M3: return 0x1p-10 / 448.0;
    case Element::E5M2: return 0x1p-17 / 57344.0;
    case Element::Int4: return 0.5 / 7.0;
    case Element::Int8: return 0.5 / 127.0;
    default: return 0;
  }
}

}  // namespace

TEST_CASE("scaling a tensor by a power of two scales the result and changes no element") {
  for (int round = 0; round < 6; ++round) {
    const std::vector<float> values = tensor(round);
    for (const int power : {-20, 3, 40}) {
      std::vector<float> scaled = values;
      for (float& x : scaled) x = std::ldexp(x, power);
      for (const Scheme& s : schemes()) {
        if (s.element == Element::Float16) continue;  // has too small a range
        INFO(s.name << ", 2^" << power);
        const Quantised a = quantise(s, values, rows, columns);
        const Quantised b = quantise(s, scaled, rows, columns);
        if (s.scale != Scale::None) CHECK(a.elements == b.elements);
        std::vector<float> back = dequantise(a);
        for (float& x : back) x = std::ldexp(x, power);
        CHECK(dequantise(b) == back);
      }
    }
  }
}

TEST_CASE("changing every sign changes the signs of the result alone") {
  const std::vector<float> values = tensor(1);
  std::vector<float> negative = values;
  for (float& x : negative) x = -x;
  for (const Scheme& s : schemes()) {
    std::vector<float> back = through(s, negative);
    for (float& x : back) x = -x;
    INFO(s.name);
    CHECK(back == through(s, values));
  }
}

TEST_CASE("within a block order is kept") {
  for (const Scheme& s : schemes()) {
    std::vector<float> values = tensor(2);
    values.resize(16);
    std::sort(values.begin(), values.end());
    const std::vector<float> back = dequantise(quantise(s, values, 1, 16));
    INFO(s.name);
    CHECK(std::is_sorted(back.begin(), back.end()));
  }
}

TEST_CASE("the error is at most half a step of the element, scales included") {
  // What a scale's own rounding may add: E4M3 and BF16 scales up to 1/16 and 2^-8 of themselves, E8M0 scales leave up
  // to a quarter of the range beyond the largest E2M1 value (6 of 8), an eighth beyond E4M3's and E5M2's (448 of 512).
  for (int round = 0; round < 6; ++round) {
    const std::vector<float> values = tensor(round);
    for (const Scheme& s : schemes()) {
      const Quantised q = quantise(s, values, rows, columns);
      const std::vector<float> back = dequantise(q);
      const std::int64_t width = s.block_columns == 0 ? columns : s.block_columns;
      const double slack = s.scale == Scale::Ue8m0 ? 0.25 : s.scale == Scale::TwoLevel ? 1.0 / 16.0 : 0x1p-8;
      double tensor_amax = 0;
      for (const float x : values) tensor_amax = std::max(tensor_amax, std::fabs(static_cast<double>(x)));
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        double amax = 0;
        for (std::int64_t j = 0; j < rows * columns; ++j) {
          const bool same_row = s.block_rows == 0 || s.block_rows >= rows || j / columns == i / columns;
          if (same_row && j % columns / width == i % columns / width)
            amax = std::max(amax, std::fabs(static_cast<double>(values[static_cast<std::size_t>(j)])));
        }
        const double x = values[static_cast<std::size_t>(i)];
        const double error = std::fabs(x - static_cast<double>(back[static_cast<std::size_t>(i)]));
        // Half a step of block scales that are subnormal in E4M3, times 6.
        const double tiny = s.scale == Scale::TwoLevel ? 6.0 * 0x1p-10 * tensor_amax / 2688.0 : 0.0;
        const double bound = std::max(relative_bound(s.element) * std::fabs(x), floor_bound(s.element) * amax) +
                             (s.scale == Scale::None ? 0.0 : slack * amax) + tiny;
        if (error > bound * (1 + 1e-6)) {
          INFO(s.name << " element " << i << " value " << x << " error " << error << " bound " << bound);
          REQUIRE(error <= bound);
        }
      }
    }
  }
}

TEST_CASE("quantising what was quantised changes nothing") {
  for (int round = 0; round < 6; ++round) {
    const std::vector<float> values = tensor(round);
    for (const Scheme& s : schemes()) {
      const std::vector<float> once = through(s, values);
      const std::vector<float> twice = through(s, once);
      INFO(s.name);
      // Power-of-two scales, and none, are exact; FP32 scales come back within a rounding or two.
      if (s.scale == Scale::Ue8m0 || s.scale == Scale::None) {
        CHECK(twice == once);
        continue;
      }
      if (s.scale != Scale::Float32) continue;
      CHECK(quantise(s, once, rows, columns).elements == quantise(s, values, rows, columns).elements);
      for (std::size_t i = 0; i < once.size(); ++i) CHECK(std::fabs(twice[i] - once[i]) <= 4e-7F * std::fabs(once[i]));
    }
  }
}
