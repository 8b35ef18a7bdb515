// Layouts and rules on cases small enough to write down, and blocks against the slow codec.
#include "precision/quantise.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "precision/distribution.hpp"
#include "precision/minifloat.hpp"
#include "slow_codec.hpp"

#include <bit>
#include <cmath>
#include <limits>

using namespace servecast::precision;
using servecast::test::slow_encode;
using Bytes = std::vector<std::uint8_t>;

namespace {

Scheme scheme(const char* name) { return find_scheme(name).value(); }

Quantised quantised(const char* name, const std::vector<float>& values, std::int64_t rows = 1) {
  return quantise(scheme(name), values, rows, static_cast<std::int64_t>(values.size()) / rows);
}

}  // namespace

TEST_CASE("two E2M1 values share a byte, the first in its low half") {
  // amax 6 in every block: MXFP4's scale is 2^(2 - 2) = 1.
  const Quantised q = quantised("mxfp4", {0.5F, 6.0F, -1.0F, -6.0F, 3.0F});
  CHECK(q.elements == Bytes{0x71, 0xFA, 0x05});
  CHECK(q.scales == Bytes{127});
  CHECK(dequantise(q) == std::vector<float>{0.5F, 6.0F, -1.0F, -6.0F, 3.0F});
}

TEST_CASE("codes are packed and unpacked in the same order") {
  CHECK(pack(std::vector<std::uint16_t>{1, 2, 15}, 4) == Bytes{0x21, 0x0F});
  CHECK(pack(std::vector<std::uint16_t>{0x1234, 0x5678}, 16) == Bytes{0x34, 0x12, 0x78, 0x56});
  CHECK(unpack(Bytes{0x21, 0x0F}, 4, 3) == std::vector<std::uint16_t>{1, 2, 15});
  CHECK(unpack(Bytes{0x34, 0x12}, 16, 1) == std::vector<std::uint16_t>{0x1234});
  CHECK(unpack(Bytes{9, 8}, 8, 2) == std::vector<std::uint16_t>{9, 8});
  const Quantised q = quantised("mxfp4", {0.5F, 6.0F, -1.0F, -6.0F, 3.0F});
  CHECK(pack(unpack(q.elements, 4, 5), 4) == q.elements);
}

TEST_CASE("NVFP4 scales a tensor to 2688 and a block to 6") {
  std::vector<float> values(32, 1.0F);
  values[0] = 2688.0F;
  const Quantised q = quantised("nvfp4", values);
  CHECK(q.tensor_scale == 1.0F);
  // Block 0: 2688 / 6 = 448. Block 1: 1 / 6 = 0.1667, of E4M3's neighbours 0.15625 and 0.171875 the nearer.
  CHECK(q.scales == Bytes{0x7E, 0x23});
  CHECK(decode(e4m3, 0x23) == 0.171875F);
  CHECK((q.elements[0] & 0xF) == 0x7);
  CHECK((q.elements[0] >> 4) == 0);  // 1 / 448: flushed
  CHECK(q.elements[8] == 0x77);      // 1 / 0.171875 = 5.82, nearest 6
  const std::vector<float> back = dequantise(q);
  CHECK(back[0] == 2688.0F);
  CHECK(back[1] == 0.0F);
  CHECK(back[16] == 6.0F * 0.171875F);
}

TEST_CASE("scales lie row by row over blocks, blocks cut off at the edges") {
  const std::vector<float> values(130 * 257, 448.0F);
  const Quantised q = quantise(scheme("fp8_block"), values, 130, 257);
  CHECK(q.block_rows() == 2);
  CHECK(q.block_columns() == 3);
  CHECK(q.scales.size() == 6 * 4);
  CHECK(quantise(scheme("nvfp4"), values, 130, 257).scales.size() == 130 * 17);
  CHECK(quantise(scheme("fp8_channel"), values, 130, 257).scales.size() == 130 * 4);
  CHECK(quantise(scheme("fp8"), values, 130, 257).scales == Bytes{0, 0, 0x80, 0x3F});
}

TEST_CASE("bits per element are those of the stored bytes") {
  for (const Scheme& s : schemes()) {
    const std::vector<float> values(64 * 256, 1.0F);
    const Quantised q = quantise(s, values, 64, 256);
    const std::size_t bytes = q.elements.size() + q.scales.size() + (s.scale == Scale::TwoLevel ? 4 : 0);
    INFO(s.name);
    CHECK(bits_per_element(s, 64, 256) == static_cast<double>(bytes) * 8.0 / (64 * 256));
  }
}

TEST_CASE("schemes of the formats that engines store take the bytes that format.hpp counts") {
  for (std::size_t i = 0; i < format_names.size(); ++i) {
    const auto format = static_cast<Format>(i);
    INFO(format_names[i]);
    CHECK(bits_per_element(scheme_of(format), 256, 512) * 256 * 512 / 8 ==
          static_cast<double>(matrix_bytes(format, 256, 512)));
  }
}

TEST_CASE("zero blocks and zero tensors stay zero") {
  for (const Scheme& s : schemes()) {
    INFO(s.name);
    const std::vector<float> zeros(64, 0.0F);
    CHECK(dequantise(quantise(s, zeros, 2, 32)) == zeros);
    std::vector<float> half = zeros;
    for (std::size_t i = 32; i < 64; ++i) half[i] = 1.0F;
    const std::vector<float> back = dequantise(quantise(s, half, 2, 32));
    for (std::size_t i = 0; i < 32; ++i) CHECK(back[i] == 0.0F);
    for (std::size_t i = 32; i < 64; ++i) CHECK(back[i] == Approx(1.0F).epsilon(0.2));
  }
}

TEST_CASE("a NaN spoils itself where elements have one, else its block, and nothing beyond") {
  for (const Scheme& s : schemes()) {
    std::vector<float> values(128, 1.0F);
    values[5] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> back = dequantise(quantise(s, values, 4, 32));
    INFO(s.name);
    const bool own = s.element != Element::E2M1 && s.element != Element::Int4 && s.element != Element::Int8;
    const std::int64_t width = s.block_columns == 0 ? 32 : std::min<std::int64_t>(32, s.block_columns);
    for (std::int64_t i = 0; i < 128; ++i) {
      const bool same_block = s.block_rows == 0 || (i < 32 && i / width == 5 / width);
      CHECK(std::isnan(back[static_cast<std::size_t>(i)]) == (own ? i == 5 : same_block));
    }
  }
}

TEST_CASE("an infinity saturates and takes no part in scales") {
  for (const Scheme& s : schemes()) {
    if (s.scale == Scale::None) continue;
    std::vector<float> values(32, 1.0F);
    const std::vector<float> without = dequantise(quantise(s, values, 1, 32));
    values[3] = -std::numeric_limits<float>::infinity();
    const std::vector<float> back = dequantise(quantise(s, values, 1, 32));
    INFO(s.name);
    CHECK(std::isfinite(back[3]));
    CHECK(back[3] <= -0.99F);  // the largest element, at the least 1 but for the scale's rounding
    CHECK(back[4] == without[4]);
  }
}

TEST_CASE("tiny tensors keep a scale that is a normal number") {
  for (const char* name : {"nvfp4", "fp8", "int8", "int4_g32", "fp4_tensor"}) {
    const std::vector<float> values(16, 0x1p-149F);
    INFO(name);
    for (const float x : dequantise(quantised(name, values))) CHECK(x == 0.0F);
  }
  const std::vector<float> normal(16, 0x1p-120F);
  CHECK(dequantise(quantised("fp8", normal))[0] == Approx(0x1p-120F));
}

TEST_CASE("INT4 is two's complement, symmetric") {
  const Quantised q = quantised("int4_g32", {7.0F, -7.0F, 1.0F, -1.0F});
  CHECK(q.scales == Bytes{0x80, 0x3F});
  CHECK(q.elements == Bytes{0x97, 0xF1});
  CHECK(dequantise(q) == std::vector<float>{7.0F, -7.0F, 1.0F, -1.0F});
}

TEST_CASE("random blocks agree with a search over all codes") {
  servecast::core::Random random(3, "test/blocks");
  for (int round = 0; round < 200; ++round) {
    const double size = std::exp2(40.0 * random.uniform() - 20.0);
    std::vector<float> values = draw({Law::StudentT, 3, 0, 1}, 3, 48, static_cast<std::uint64_t>(round), "blocks");
    float amax = 0;
    for (float& x : values) {
      x = static_cast<float>(static_cast<double>(x) * size);
      amax = std::max(amax, std::fabs(x));
    }
    const Quantised q = quantise(scheme("nvfp4"), values, 3, 48);
    const float tensor = amax / 2688.0F;
    REQUIRE(q.tensor_scale == tensor);
    const std::vector<std::uint16_t> codes = unpack(q.elements, 4, 3 * 48);
    for (std::size_t b = 0; b < 9; ++b) {
      float block = 0;
      for (std::size_t i = 16 * b; i < 16 * b + 16; ++i) block = std::max(block, std::fabs(values[i]));
      REQUIRE(q.scales[b] == slow_encode(e4m3, block / 6.0F / tensor));
      const float scale = decode(e4m3, q.scales[b]) * tensor;
      for (std::size_t i = 16 * b; i < 16 * b + 16; ++i)
        REQUIRE(codes[i] == (scale > 0 ? slow_encode(e2m1, values[i] / scale) : 0));
    }
    const Quantised m = quantise(scheme("mxfp8"), values, 3, 48);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t b = i / 48 * 2 + i % 48 / 32;
      float block = 0;
      for (std::size_t j = i / 48 * 48; j < i / 48 * 48 + 48; ++j)
        if (j / 48 * 2 + j % 48 / 32 == b) block = std::max(block, std::fabs(values[j]));
      REQUIRE(static_cast<int>(m.scales[b]) - 127 == std::ilogb(block) - 8);
      REQUIRE(m.elements[i] == slow_encode(e4m3, std::ldexp(values[i], 127 - static_cast<int>(m.scales[b]))));
    }
  }
}
