#include "report/figures.hpp"

#include "catch.hpp"

using namespace servecast::report;

TEST_CASE("figures keep three significant digits and separate thousands") {
  CHECK(figure(0) == "0");
  CHECK(figure(0.012345) == "0.0123");
  CHECK(figure(4.5678) == "4.57");
  CHECK(figure(312.2) == "312");
  CHECK(figure(999.7) == "1,000");
  CHECK(figure(12345.6) == "12,346");
  CHECK(figure(-12345.6) == "-12,346");
  CHECK(figure(1.25e13) == "1.25e+13");
  CHECK(figure(1.25e-5) == "1.25e-05");
  CHECK(figure(31.2, "ms") == "31.2 ms");
  CHECK(usd(0.4213) == "$0.421");
  CHECK(percent(0.123) == "12.3 %");
}

TEST_CASE("text from users is made printable") {
  CHECK(printable("a\x1b[31mb\tc") == "a [31mb c");
  CHECK(printable("caf\xc3\xa9 \xff\xc3") == "caf\xc3\xa9 ??");
  CHECK(printable("\xed\xa0\x80") == "???");  // a surrogate
  CHECK(width_of("caf\xc3\xa9") == 4);
}

TEST_CASE("long text is cut at a code point and marked") {
  CHECK(cut_to("abcdef", 6) == "abcdef");
  CHECK(cut_to("abcdefg", 6) == "abc...");
  CHECK(cut_to("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4) == "\xc3\xa9...");
}

TEST_CASE("paragraphs break at spaces and split only words that are too long") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("abcdefghij kl", 4) == std::vector<std::string>{"abcd", "efgh", "ij", "kl"});
  CHECK(wrap("", 10).empty());
  CHECK(wrap("  a   b ", 10) == std::vector<std::string>{"a b"});
}
