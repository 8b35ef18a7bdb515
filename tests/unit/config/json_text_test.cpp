#include "config/json_text.hpp"

#include "catch.hpp"
#include "core/error.hpp"

#include <limits>

using namespace servecast;
using servecast::config::JsonWriter;

TEST_CASE("JSON is written in call order with two-space indent") {
  JsonWriter out;
  out.begin_object();
  out.value("name", "demo");
  out.value("rate", 2.5);
  out.value("count", std::uint64_t{18446744073709551615u});
  out.value("ok", true);
  out.null("nothing");
  out.begin_array("list");
  out.element(1);
  out.begin_object();
  out.end_object();
  out.end_array();
  out.begin_array("empty");
  out.end_array();
  out.raw("raw", R"({"a":1})");
  out.end_object();
  CHECK(out.text() == R"({
  "name": "demo",
  "rate": 2.5,
  "count": 18446744073709551615,
  "ok": true,
  "nothing": null,
  "list": [
    1,
    {}
  ],
  "empty": [],
  "raw": {"a":1}
}
)");
}

TEST_CASE("compact JSON has one line") {
  JsonWriter out(JsonWriter::Layout::Compact);
  out.begin_array();
  out.element(std::string("a"));
  out.begin_object();
  out.value("b", -1);
  out.value("c", 0.5f);
  out.end_object();
  out.end_array();
  CHECK(out.text() == R"(["a",{"b":-1,"c":0.5}])");
}

TEST_CASE("text is escaped and malformed bytes are replaced") {
  CHECK(config::json_quoted("a\"b\\c\n\t\x01") == R"("a\"b\\c\n\t\u0001")");
  CHECK(config::json_quoted("caf\xC3\xA9") == "\"caf\xC3\xA9\"");
  CHECK(config::json_quoted("x\xFFy") == R"("x\ufffdy")");
}

TEST_CASE("what would not be JSON is refused as a bug") {
  JsonWriter out;
  out.begin_object();
  CHECK_THROWS_AS(JsonWriter(out).value("x", std::numeric_limits<double>::infinity()), core::LogicError);
  CHECK_THROWS_AS(JsonWriter(out).element(1), core::LogicError);
  CHECK_THROWS_AS(out.end_array(), core::LogicError);
  CHECK_THROWS_AS(out.text(), core::LogicError);
  CHECK_THROWS_AS(JsonWriter().value("x", 1), core::LogicError);
  JsonWriter two;
  two.begin_array();
  two.end_array();
  CHECK_THROWS_AS(two.begin_array(), core::LogicError);
}
