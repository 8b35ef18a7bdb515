#include "catch.hpp"
#include "config/fields.hpp"
#include "config/number_text.hpp"
#include "config/pointer.hpp"
#include "config/utf8.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>

using namespace servecast;
using namespace servecast::config;

TEST_CASE("pointers escape and unescape keys") {
  CHECK(child("", "a/b~c") == "/a~1b~0c");
  CHECK(child("/pools", std::size_t{3}) == "/pools/3");
  CHECK(keys_of("/a~1b~0c/3/") == std::vector<std::string>{"a/b~c", "3", ""});
  CHECK(keys_of("")->empty());
  CHECK_FALSE(keys_of("a"));
  CHECK_FALSE(keys_of("/a~2"));
  CHECK_FALSE(keys_of("/a~"));
}

TEST_CASE("a list index has no sign, no padding and no rest") {
  CHECK(index_of("0") == 0u);
  CHECK(index_of("17") == 17u);
  for (const char* bad : {"", "-1", "+1", "01", "1x", " 1", "99999999999999999999999"}) CHECK_FALSE(index_of(bad));
}

TEST_CASE("UTF-8 is told from overlong forms, surrogates and broken characters") {
  CHECK(is_utf8("plain"));
  CHECK(is_utf8("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"));
  for (const char* bad :
       {"\xFF", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3", "\x80", "\xF0\x9F\x98"}) {
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("printable text has no control characters, no broken bytes and a limit") {
  CHECK(printable("a\x1b[31mb\n\xFF") == "a?[31mb??");
  CHECK(printable("\xC2\x9B") == "?");
  CHECK(printable("caf\xC3\xA9") == "caf\xC3\xA9");
  CHECK(printable(std::string(100, 'x'), 10) == "xxxxxxxxxx... (100 bytes)");
}

TEST_CASE("numbers are written in the shortest form that reads back the same") {
  CHECK(number_text(1.0) == "1");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(1e6) == "1000000");
  CHECK(number_text(1e300) == "1e+300");
  CHECK(number_text(-2.5e-9) == "-2.5e-09");
  CHECK_THROWS_AS(number_text(std::nan("")), core::LogicError);
  core::Random random(29, "numbers");
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::bit_cast<double>(random.next());
    if (!std::isfinite(value)) continue;
    CHECK(std::strtod(number_text(value).c_str(), nullptr) == value);
  }
}

TEST_CASE("ranges show which ends belong to them") {
  CHECK(range_text(closed(1, 1048576)) == "[1, 1048576]");
  CHECK(range_text(above(0)) == "(0, inf)");
  CHECK(range_text({}) == "(-inf, inf)");
  CHECK(contains(closed(0, 1), 0));
  CHECK_FALSE(contains(above(0), 0));
  CHECK_FALSE(contains({0, 1, false, true}, 1));
}

TEST_CASE("a message shows long words and quotations by their beginning and their length") {
  const std::string long_name(3000, 'x');
  const std::string shown = std::string(40, 'x') + "... (3000 bytes)";
  CHECK(brief("cannot read " + long_name + ": no such file") ==
        "cannot read " + std::string(40, 'x') + "... (3001 bytes) no such file");
  CHECK(brief("unknown model \"" + long_name + "\"; known: a, b") ==
        "unknown model \"" + std::string(39, 'x') + "... (3002 bytes)\"; known: a, b");
  std::string words;
  for (int i = 0; i < 500; ++i) words += "word ";
  CHECK(brief("expected true, found \"" + words + "\"").size() < 100);
  CHECK(brief("first\nsecond \"line\n\x1b[31m") == "first\nsecond \"line\n?[31m");
  const std::string usual = "s.json:/pools/0/engine/max_num_seq: unknown key; did you mean \"max_num_seqs\"?";
  CHECK(brief(usual) == usual);
}
