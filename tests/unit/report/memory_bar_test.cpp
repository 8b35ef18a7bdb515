#include "report/memory_bar.hpp"

#include "catch.hpp"
#include "core/units.hpp"

using namespace servecast;
using report::BarPart;
using report::memory_bar;

TEST_CASE("a bar shows parts by their share, and dots for what nobody takes") {
  const BarPart parts[] = {{'W', "weights", 25 * core::GiB}, {'K', "KV cache", 50 * core::GiB}};
  CHECK(memory_bar(parts, 100 * core::GiB) == "  [" + std::string(15, 'W') + std::string(30, 'K') +
                                                  std::string(15, '.') + "] 100 GiB\n  W weights, K KV cache\n");
}

TEST_CASE("a small part has one cell, an absent one none, and parts beyond the total fill the bar") {
  const BarPart parts[] = {{'W', "weights", 199 * core::GiB}, {'a', "activations", 1}, {'K', "KV cache", 0}};
  const std::string bar = memory_bar(parts, 100 * core::GiB);
  CHECK(bar == "  [" + std::string(60, 'W') + "] 100 GiB\n  W weights, a activations\n");
  const BarPart small[] = {{'a', "activations", 1}, {'W', "weights", 50 * core::GiB}};
  CHECK(memory_bar(small, 100 * core::GiB).substr(0, 5) == "  [aW");
}
