#include "core/time.hpp"

#include "catch.hpp"
#include "core/error.hpp"

using namespace servecast::core;

TEST_CASE("seconds become picoseconds, halves rounded to even") {
  CHECK(seconds(1.0).ps == 1'000'000'000'000);
  CHECK(seconds(0.5e-12).ps == 0);
  CHECK(seconds(1.5e-12).ps == 2);
  CHECK(seconds(2.5e-12).ps == 2);
  CHECK(seconds(-1.5e-12).ps == -2);
  CHECK(milliseconds(2.0).ps == 2'000'000'000);
  CHECK(microseconds(3.0).ps == 3'000'000);
}

TEST_CASE("a time whose double would overflow, or that is not finite, is refused") {
  CHECK(seconds(4.6e6).ps == 4'600'000'000'000'000'000);
  CHECK((seconds(4.6e6) + seconds(4.6e6)).ps == 9'200'000'000'000'000'000);
  CHECK_THROWS_AS(seconds(4.7e6), LogicError);
  CHECK_THROWS_AS(seconds(std::numeric_limits<double>::quiet_NaN()), LogicError);
  CHECK_THROWS_AS(seconds(-std::numeric_limits<double>::infinity()), LogicError);
}

TEST_CASE("a duration reads with a fitting unit and three digits") {
  CHECK(to_text(Duration{0}) == "0 s");
  CHECK(to_text(Duration{12}) == "12 ps");
  CHECK(to_text(milliseconds(12.34)) == "12.3 ms");
  CHECK(to_text(microseconds(-1.5)) == "-1.50 us");
  CHECK(to_text(microseconds(999.7)) == "1.00 ms");
  CHECK(to_text(seconds(99.96)) == "100 s");
  CHECK(to_text(seconds(600)) == "10.0 min");
  CHECK(to_text(seconds(6 * 3600)) == "6.00 h");
  CHECK(to_text(seconds(10 * 86400)) == "10.0 d");
}

TEST_CASE("problems are collected in order and raised together") {
  Problems problems;
  CHECK_NOTHROW(problems.raise_if_any());
  problems.add("a.json:/x", "{} is outside [{}, {}]", 0, 1, 2);
  problems.add("b.csv:3", "line is truncated");
  REQUIRE(problems.lines().size() == 2);
  CHECK(problems.lines()[0] == "a.json:/x: 0 is outside [1, 2]");
  CHECK_THROWS_WITH(problems.raise_if_any(), "a.json:/x: 0 is outside [1, 2]\nb.csv:3: line is truncated");
}

TEST_CASE("a broken invariant says the facts and the condition") {
  const int free = 3;
  CHECK_THROWS_WITH([&] { SERVECAST_ENSURE(free == 4, "blocks lost: {} free", free); }(),
                    "blocks lost: 3 free (free == 4)");
}
