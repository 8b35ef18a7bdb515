#include "report/table.hpp"

#include "catch.hpp"
#include "core/error.hpp"

using namespace servecast;
using namespace servecast::report;

TEST_CASE("columns align and lines carry no trailing spaces") {
  Table table({{"name", Align::Left}, {"bytes", Align::Right}, {"note", Align::Left}});
  table.row({"weights", "37", "per GPU"});
  table.row({"kv", "1,200"});
  CHECK(table.text() ==
        "  name     bytes  note\n"
        "  weights     37  per GPU\n"
        "  kv       1,200\n");
}

TEST_CASE("the title line is left out when there is no title") {
  Table table({{"", Align::Left}, {"", Align::Right}});
  table.row({"a", "1"});
  table.gap();
  table.row({"bb", "22"});
  CHECK(table.text(0) == "a    1\n\nbb  22\n");
}

TEST_CASE("text gives way before numbers do") {
  Table table({{"", Align::Left}, {"", Align::Right}});
  table.row({"a very long description of something", "123,456,789"});
  CHECK(table.text(0, 30) == "a very long de...  123,456,789\n");
}

TEST_CASE("more cells than columns are our own bug") {
  Table table({{"a", Align::Left}});
  CHECK_THROWS_AS(table.row({"1", "2"}), core::LogicError);
}
