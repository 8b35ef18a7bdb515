#include "cost/decode_table.hpp"

#include "catch.hpp"
#include "core/random.hpp"

#include <cmath>

using namespace servecast;
using namespace servecast::cost;

TEST_CASE("affine rooflines are reproduced to a few millionths without splitting octaves") {
  const DecodeTable t(300, 40000, [](double d, double s) {
    return DecodeTable::Seconds{1e-12 * (7 * d + 3 * s), 1e-12 * (11 * s + 500 * d)};
  });
  CHECK(t.splits() == 0);
  core::Random random(1, "test/decode");
  for (int i = 0; i < 10000; ++i) {
    const auto d = static_cast<std::int32_t>(1 + random.below(300));
    const auto s = static_cast<std::int64_t>(static_cast<std::uint64_t>(d) +
                                             random.below(static_cast<std::uint64_t>(d) * 39999 + 1));
    const Lines l = t.at(d, s);
    REQUIRE(static_cast<double>(l.compute_ps) == Approx(static_cast<double>(7 * d + 3 * s)).epsilon(3e-6).margin(1));
    REQUIRE(static_cast<double>(l.memory_ps) == Approx(static_cast<double>(11 * s + 500 * d)).epsilon(3e-6).margin(1));
  }
}

TEST_CASE("a curved roofline is split until it is within half a percent and stays monotone") {
  const auto curve = [](double d, double s) {
    return 1e-6 + 1e-9 * std::pow(s, 0.7) + 2e-8 * d + 1e-10 * std::pow(s, 1.1);
  };
  const DecodeTable t(64, 100000, [&](double d, double s) { return DecodeTable::Seconds{0, curve(d, s)}; });
  core::Random random(2, "test/decode");
  for (int i = 0; i < 20000; ++i) {
    const auto d = static_cast<std::int32_t>(1 + random.below(63));
    const auto most = static_cast<double>(d) * 99999;
    const auto s = d + static_cast<std::int64_t>(std::pow(most, random.uniform()));
    const auto got = static_cast<double>(t.at(d, s).memory_ps) * 1e-12;
    REQUIRE(got == Approx(curve(d, static_cast<double>(s))).epsilon(0.005));
    REQUIRE(t.at(d, s + 1).memory_ps >= t.at(d, s).memory_ps);
    REQUIRE(t.at(d + 1, s + 1).memory_ps >= t.at(d, s).memory_ps);
  }
}

TEST_CASE("contexts beyond the table are a broken invariant") {
  const DecodeTable t(4, 1000, [](double, double s) { return DecodeTable::Seconds{0, 1e-9 * s}; });
  CHECK_THROWS_AS(t.at(2, 1 << 20), core::LogicError);
}

TEST_CASE("no decoders take no time") {
  const DecodeTable t(4, 1000, [](double, double s) { return DecodeTable::Seconds{0, 1e-9 * s}; });
  CHECK(t.at(0, 0).memory_ps == 0);
  CHECK(t.at(0, 0).compute_ps == 0);
}
