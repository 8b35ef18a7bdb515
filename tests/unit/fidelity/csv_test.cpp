#include "fidelity/csv.hpp"

#include "catch.hpp"
#include "core/error.hpp"

using namespace servecast;
using fidelity::parse_csv;

TEST_CASE("a quoted field may hold commas, doubled quotes and line breaks") {
  const auto table = parse_csv("id,note\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,plain", "t.csv");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].at("note") == "a, \"b\"\nc");
  CHECK(table.rows[1].at("note") == "plain");
  CHECK(table.lines == std::vector<std::size_t>{2, 4});
}

TEST_CASE("an empty file is an error, and so is a row of another length, named by its line") {
  CHECK_THROWS_AS(parse_csv("", "t.csv"), core::InputError);
  try {
    parse_csv("a,b\n1,2\n3\n4,5,6\n", "t.csv");
    FAIL("no error");
  } catch (const core::InputError& e) {
    REQUIRE(e.lines().size() == 2);
    CHECK(e.lines()[0] == "t.csv:3: 1 field where the header has 2");
    CHECK(e.lines()[1] == "t.csv:4: 3 fields where the header has 2");
  }
}

TEST_CASE("a column named twice is an error") { CHECK_THROWS_AS(parse_csv("a,a\n1,2\n", "t.csv"), core::InputError); }

TEST_CASE("a file that cannot be read is the outside world's fault") {
  CHECK_THROWS_AS(fidelity::load_csv("no/such/file.csv"), core::Error);
}
