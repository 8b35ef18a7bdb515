#include "cost/graphs.hpp"

#include "catch.hpp"

using namespace servecast::cost;

TEST_CASE("256 sequences capture 51 sizes up to 512 tokens") {
  const std::vector<std::int32_t> sizes = capture_sizes(256, 8192);
  REQUIRE(sizes.size() == 51);
  CHECK(std::vector<std::int32_t>(sizes.begin(), sizes.begin() + 5) == std::vector<std::int32_t>{1, 2, 4, 8, 16});
  CHECK(sizes[33] == 248);
  CHECK(sizes[34] == 256);
  CHECK(sizes[35] == 272);
  CHECK(sizes.back() == 512);
}

TEST_CASE("8 sequences capture 1, 2, 4, 8 and 16 tokens") {
  CHECK(capture_sizes(8, 8192) == std::vector<std::int32_t>{1, 2, 4, 8, 16});
}

TEST_CASE("no captured size exceeds the token budget") {
  CHECK(capture_sizes(256, 20) == std::vector<std::int32_t>{1, 2, 4, 8, 16});
  CHECK(capture_sizes(1024, 16384).back() == 512);
}

TEST_CASE("tokens are padded to the next captured size and run eagerly beyond the last") {
  const std::vector<std::int32_t> sizes = capture_sizes(8, 8192);
  CHECK(pad(sizes, 1).tokens == 1);
  CHECK(pad(sizes, 3).tokens == 4);
  CHECK(pad(sizes, 9).tokens == 16);
  CHECK(pad(sizes, 16).graph);
  CHECK(pad(sizes, 17).tokens == 17);
  CHECK_FALSE(pad(sizes, 17).graph);
  CHECK(pad({}, 3).tokens == 3);
  CHECK_FALSE(pad({}, 3).graph);
}
