#include "microbench/host/codecs.hpp"

#include "catch.hpp"
#include "microbench/host/values.hpp"
#include "precision/minifloat.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace servecast::microbench;

namespace {

// The nearest of a format's values by search: of two equally near the one with an even code.
template <class Decode>
int nearest(double x, int codes, Decode decode) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int code = 0; code < codes; ++code) {
    const double value = decode(static_cast<std::uint8_t>(code));
    if (std::isnan(value)) continue;
    const double distance = std::abs(value - std::abs(x));
    if (distance < least || (distance == least && code % 2 == 0)) least = distance, best = code;
  }
  return best;
}

}  // namespace

TEST_CASE("every E2M1 code decodes to its value and encodes back") {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int code = 0; code < 16; ++code) {
    const auto c = static_cast<std::uint8_t>(code);
    CHECK(std::abs(codec::e2m1_to_float(c)) == values[code % 8]);
    CHECK(std::signbit(codec::e2m1_to_float(c)) == (code >= 8));
    CHECK(codec::float_to_e2m1(codec::e2m1_to_float(c)) == code);
  }
}

TEST_CASE("every E4M3 code but the two NaNs encodes back") {
  for (int code = 0; code < 256; ++code) {
    const auto c = static_cast<std::uint8_t>(code);
    const float value = codec::e4m3_to_float(c);
    if ((code & 127) == 127)
      CHECK(std::isnan(value));
    else
      CHECK(codec::float_to_e4m3(value) == code);
  }
  CHECK(codec::e4m3_to_float(0x7e) == 448);
  CHECK(codec::e4m3_to_float(1) == std::ldexp(1.0, -9));
  CHECK((codec::float_to_e4m3(std::nanf("")) & 127) == 127);
}

TEST_CASE("encoding rounds to the nearest value, ties to the even code, and saturates") {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t z = values::mixed(1, i);
    const auto coarse = static_cast<float>(static_cast<std::int64_t>(z % 4097)) / 256;  // with many ties
    const float x = std::ldexp(coarse, static_cast<int>((z >> 20) % 16) - 10) * ((z >> 40) % 2 == 0 ? 1.0F : -1.0F);
    const int sign8 = std::signbit(x) ? 0x80 : 0, sign4 = std::signbit(x) ? 8 : 0;
    INFO(x);
    REQUIRE(codec::float_to_e4m3(x) == (nearest(x, 127, codec::e4m3_to_float) | sign8));
    REQUIRE(codec::float_to_e2m1(x) == (nearest(x, 8, codec::e2m1_to_float) | sign4));
  }
  CHECK(codec::float_to_e4m3(1e9F) == 0x7e);
  CHECK(codec::float_to_e4m3(-std::numeric_limits<float>::infinity()) == 0xfe);
  CHECK(codec::float_to_e2m1(1e9F) == 7);
  CHECK(codec::float_to_e2m1(-5.0F) == 0xe);  // 4 and 6 are equally near, and 4 has the even code
}

TEST_CASE("BF16 keeps what it can hold and rounds the rest to even") {
  CHECK(codec::bf16_to_float(codec::float_to_bf16(1.0F)) == 1);
  CHECK(codec::float_to_bf16(1.00390625F) == 0x3f80);  // halfway: even below
  CHECK(codec::float_to_bf16(1.01171875F) == 0x3f82);  // halfway: even above
  CHECK(std::isnan(codec::bf16_to_float(codec::float_to_bf16(std::nanf("")))));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const float x = codec::bf16_to_float(values::bf16_code(3, i));
    CHECK(std::abs(x) < 1);
    CHECK(std::fmod(x * 256, 2.0F) != 0);
  }
}

TEST_CASE("NVFP4 scales a tensor so that its largest block uses the whole range") {
  const float scale = codec::nvfp4_tensor_scale(2688);
  CHECK(scale == 1);
  CHECK(codec::nvfp4_block_scale(2688, scale) == 0x7e);
  CHECK(codec::nvfp4_step(0x7e, scale) == 448);
  CHECK(codec::float_to_e2m1(codec::nvfp4_ratio(2688, 448)) == 7);
  CHECK(codec::nvfp4_block_scale(0, 0) == 0);
  CHECK(codec::nvfp4_ratio(3, codec::nvfp4_step(0, scale)) == 0);
}

TEST_CASE("the kernels' codecs equal the precision layer's, in every code and in values between and beyond them") {
  using namespace servecast;
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  for (std::uint32_t code = 0; code < 256; ++code) {
    if ((code & 0x7F) == 0x7F) continue;  // NaN
    const float value = microbench::codec::e4m3_to_float(static_cast<std::uint8_t>(code));
    CHECK(bits(value) == bits(precision::decode(precision::e4m3, code)));
  }
  for (std::uint32_t code = 0; code < 16; ++code) {
    const float value = microbench::codec::e2m1_to_float(static_cast<std::uint8_t>(code));
    CHECK(bits(value) == bits(precision::decode(precision::e2m1, code)));
  }
  int unequal = 0;
  for (std::uint64_t pattern = 0; pattern < (std::uint64_t{1} << 32); pattern += 9973) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
    if (x != x) continue;
    unequal += microbench::codec::float_to_e4m3(x) != precision::encode(precision::e4m3, x) ? 1 : 0;
    unequal += microbench::codec::float_to_e2m1(x) != precision::encode(precision::e2m1, x) ? 1 : 0;
  }
  CHECK(unequal == 0);
}
