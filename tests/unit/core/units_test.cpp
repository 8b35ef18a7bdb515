#include "core/units.hpp"

#include "catch.hpp"

using namespace servecast::core;

TEST_CASE("sizes, counts and rates read well") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(37.1 * GiB) == "37.1 GiB");
  CHECK(bytes_text(1023.9 * MiB) == "1.00 GiB");
  CHECK(bytes_text(2 * TiB) == "2.00 TiB");
  CHECK(bytes_text(8.4 * KiB) == "8.40 KiB");
  CHECK(count_text(30425) == "30,425");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(-1234567) == "-1,234,567");
  CHECK(short_text(1.25e6) == "1.25 M");
  CHECK(short_text(12) == "12");
  CHECK(short_text(999.9) == "1.00 k");
  CHECK(rate_text(8e12, "B/s") == "8.00 TB/s");
  CHECK(percent_text(0.1234) == "12.3 %");
  CHECK(number_text(0) == "0");
  CHECK(number_text(0.01234) == "0.0123");
  CHECK(number_text(152.4) == "152");
  CHECK(number_text(12345.6) == "12346");
}
