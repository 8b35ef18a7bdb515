#include "precision/minifloat.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "slow_codec.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace servecast::precision;
using servecast::core::Random;
using servecast::test::code_value;
using servecast::test::slow_encode;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::uint32_t special(const Minifloat& f, float x) { return encode(f, x, Overflow::Special); }

// Every code comes back as itself; NaN codes come back as the format's one NaN.
void round_trip(const Minifloat& f) {
  std::uint32_t finite = 0;
  for (std::uint32_t code = 0; code < 2 * f.sign_bit(); ++code) {
    const float value = decode(f, code);
    INFO("code " << code << ", value " << value);
    if (std::isnan(value)) {
      CHECK(special(f, value) == f.nan_code);
      continue;
    }
    CHECK(special(f, value) == code);
    const std::uint32_t magnitude = code % f.sign_bit();
    CHECK(std::signbit(value) == (code >= f.sign_bit()));
    if (std::isinf(value)) continue;
    ++finite;
    CHECK(static_cast<long double>(std::fabs(value)) == code_value(f, magnitude));
  }
  CHECK(finite == 2 * (f.max_code + 1));
}

// Values of all sizes around the format's range, random bits below, and both neighbours of every midpoint.
std::vector<float> samples(const Minifloat& f, Random& random) {
  std::vector<float> out;
  const double span = f.max_exponent - f.min_exponent + f.mantissa_bits + 6;
  for (int i = 0; i < 2000; ++i) {
    const double exponent = f.min_exponent - f.mantissa_bits - 4 + random.uniform() * span;
    const float x = static_cast<float>(std::exp2(exponent));
    out.push_back(random.uniform() < 0.5 ? x : -x);
  }
  for (std::uint32_t code = 0; code < f.max_code && code < 512; ++code) {
    const auto middle = static_cast<float>((code_value(f, code) + code_value(f, code + 1)) / 2);
    for (const float x : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, infinity)}) out.push_back(x);
  }
  return out;
}

}  // namespace

TEST_CASE("E2M1 has the values 0, 0.5, 1, 1.5, 2, 3, 4 and 6 of both signs") {
  const std::vector<float> values = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 8; ++code) {
    CHECK(decode(e2m1, code) == values[code]);
    CHECK(decode(e2m1, code + 8) == -values[code]);
  }
  CHECK(std::signbit(decode(e2m1, 8)));
}

TEST_CASE("E4M3 ends at 448, E5M2 at 57344, and both begin where their subnormals do") {
  CHECK(decode(e4m3, 0x7E) == 448.0F);
  CHECK(decode(e4m3, 0x01) == 0x1p-9F);
  CHECK(decode(e4m3, 0x08) == 0x1p-6F);
  CHECK(std::isnan(decode(e4m3, 0x7F)));
  CHECK(std::isnan(decode(e4m3, 0xFF)));
  CHECK(decode(e5m2, 0x7B) == 57344.0F);
  CHECK(decode(e5m2, 0x01) == 0x1p-16F);
  CHECK(decode(e5m2, 0x7C) == infinity);
  CHECK(decode(e5m2, 0xFC) == -infinity);
  for (const std::uint32_t code : {0x7D, 0x7E, 0x7F}) CHECK(std::isnan(decode(e5m2, code)));
}

TEST_CASE("every code of every element format comes back as itself") {
  round_trip(e2m1);
  round_trip(e4m3);
  round_trip(e5m2);
}

TEST_CASE("every code of the 16-bit formats comes back as itself") {
  for (const Minifloat* f : {&float16, &bfloat16}) {
    std::uint32_t wrong = 0;
    for (std::uint32_t code = 0; code < 2 * f->sign_bit(); ++code) {
      const float value = decode(*f, code);
      const std::uint32_t back = special(*f, value);
      if (std::isnan(value) ? back != f->nan_code : back != code) ++wrong;
      if (f == &bfloat16 && !std::isnan(value) && std::bit_cast<std::uint32_t>(value) != code << 16) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("encoding takes the nearest code, of two equally near the even one") {
  Random random(1, "test/minifloat");
  for (const Minifloat* f : {&e2m1, &e4m3, &e5m2}) {
    for (const float x : samples(*f, random)) {
      INFO(f->bits() << " bits, value " << x);
      CHECK(encode(*f, x) == slow_encode(*f, x));
    }
  }
}

TEST_CASE("encoding never falls as the value grows") {
  Random random(2, "test/minifloat");
  for (const Minifloat* f : {&e2m1, &e4m3, &e5m2, &float16, &bfloat16}) {
    std::uint32_t before = 0;
    for (std::uint32_t bits = 0; bits < 0x7F800000U; bits += 9973) {
      const std::uint32_t code = encode(*f, std::bit_cast<float>(bits));
      REQUIRE(code >= before);
      before = code;
    }
    CHECK(before == f->max_code);
  }
}

TEST_CASE("what is too large saturates, or becomes what the format has for it") {
  for (const float x : {500.0F, 1e30F, infinity}) {
    CHECK(encode(e2m1, x) == 0x7);
    CHECK(encode(e2m1, -x) == 0xF);
    CHECK(special(e2m1, x) == 0x7);
    CHECK(encode(e4m3, x) == 0x7E);
    CHECK(special(e4m3, x) == 0x7F);
  }
  CHECK(encode(e4m3, 464.0F) == 0x7E);  // the tie with the next step goes to the even code, 448
  CHECK(special(e4m3, 464.0F) == 0x7E);
  CHECK(special(e4m3, std::nextafter(464.0F, infinity)) == 0x7F);
  CHECK(encode(e5m2, infinity) == 0x7B);
  CHECK(special(e5m2, infinity) == 0x7C);
  CHECK(special(e5m2, -61440.0F) == 0xFC);  // a tie again: infinity is the even one
  CHECK(special(e5m2, std::nextafter(61440.0F, 0.0F)) == 0x7B);
  CHECK(special(float16, 65520.0F) == 0x7C00);
  CHECK(special(bfloat16, std::numeric_limits<float>::max()) == 0x7F80);
}

TEST_CASE("a NaN stays one where the format has one, and is the largest value elsewhere") {
  CHECK(encode(e4m3, not_a_number) == 0x7F);
  CHECK(encode(e5m2, not_a_number) == 0x7F);
  CHECK(encode(float16, not_a_number) == 0x7E00);
  CHECK(encode(bfloat16, not_a_number) == 0x7FC0);
  CHECK(encode(e2m1, not_a_number) == 0x7);
}

TEST_CASE("subnormals of FP32 are numbers like any other") {
  CHECK(special(bfloat16, 0x1p-133F) == 1);
  CHECK(special(bfloat16, 0x1p-134F) == 0);                            // half of the least: even
  CHECK(special(bfloat16, std::nextafter(0x1p-134F, infinity)) == 1);  // a little more
  CHECK(encode(e4m3, 0x1p-149F) == 0);
  CHECK(encode(e4m3, -0x1p-149F) == 0x80);
}

TEST_CASE("E8M0 holds the powers of two from -127 to 127 and one NaN") {
  for (std::uint32_t code = 0; code < 255; ++code) {
    CHECK(ue8m0_decode(code) == std::ldexp(1.0F, static_cast<int>(code) - 127));
    CHECK(ue8m0_floor(ue8m0_decode(code), 0) == code);
  }
  CHECK(std::isnan(ue8m0_decode(ue8m0_nan)));
  CHECK(ue8m0_floor(0.0F, 2) == 0);
  CHECK(ue8m0_floor(7.9F, 2) == 127);
  CHECK(ue8m0_floor(8.0F, 2) == 128);
  CHECK(ue8m0_floor(0x1p-149F, 0) == 0);
  CHECK(ue8m0_floor(0x1p-126F, 8) == 0);
  CHECK(ue8m0_floor(std::numeric_limits<float>::max(), -8) == 254);
}

TEST_CASE("integers round to nearest even and stop at their largest") {
  CHECK(round_to_integer(0.5F, 7) == 0);
  CHECK(round_to_integer(1.5F, 7) == 2);
  CHECK(round_to_integer(-2.5F, 7) == -2);
  CHECK(round_to_integer(-2.5001F, 7) == -3);
  CHECK(round_to_integer(6.9F, 7) == 7);
  CHECK(round_to_integer(7.6F, 7) == 7);
  CHECK(round_to_integer(-1e30F, 127) == -127);
  CHECK(round_to_integer(127.4F, 127) == 127);
  CHECK(round_to_integer(0x1p-149F, 127) == 0);
  CHECK(round_to_integer(not_a_number, 127) == 0);
  for (int n = -127; n <= 127; ++n) CHECK(round_to_integer(static_cast<float>(n), 127) == n);
}
