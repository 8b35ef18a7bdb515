#include "hardware/gpu.hpp"

#include "catch.hpp"

#include <string>
#include <vector>

using namespace servecast::hardware;

namespace {

Gpu sound() {
  Gpu g;
  g.sm_count = 132;
  g.memory_gib = 79;
  g.memory_tb_s = 3.35;
  g.dense.bf16 = 989;
  g.sparse.bf16 = 1979;
  g.origin = {
      {{"sm_count", "dies", "memory_gib", "memory_tb_s", "dense.bf16", "sparse.bf16"}, Evidence::Specified, "test"}};
  return g;
}

template <typename T>
std::vector<std::string> complaints(const T& profile) {
  std::vector<std::string> all;
  check(profile,
        [&](std::string_view key, const std::string& message) { all.push_back(std::string(key) + ": " + message); });
  return all;
}

}  // namespace

TEST_CASE("a sound profile has no complaints") { CHECK(complaints(sound()).empty()); }

TEST_CASE("a sparse peak given as the dense one is refused") {
  Gpu g = sound();
  g.dense.bf16 = 1979;
  REQUIRE(complaints(g).size() == 1);
  CHECK(complaints(g)[0].find("dense/bf16: 1979 is above 1/1.9 of the sparse peak 1979") == 0);
}

TEST_CASE("a sparse peak without its dense one is refused") {
  Gpu g = sound();
  g.sparse.fp8 = 3958;
  g.origin[0].keys.push_back("sparse.fp8");
  REQUIRE(complaints(g).size() == 1);
  CHECK(complaints(g)[0].find("dense/fp8: absent although the sparse peak is 3958") == 0);
}

TEST_CASE("every number needs exactly one origin with a source") {
  Gpu g = sound();
  g.tdp_w = 700;
  CHECK(complaints(g).size() == 1);
  g.origin.push_back({{"tdp_w", "sm_count"}, Evidence::Specified, "other"});
  CHECK(complaints(g) == std::vector<std::string>{"origin: \"sm_count\" has two origins; keep one"});
  g.origin[1] = {{"tdp_w"}, Evidence::Specified, ""};
  CHECK(complaints(g).size() == 1);
  g.origin[1] = {{"tdp_w", "l2_mb", "bogus"}, Evidence::Specified, "x"};
  CHECK(complaints(g).size() == 2);
}

TEST_CASE("the origin of a number can be looked up") {
  const Gpu g = sound();
  REQUIRE(origin_of(g.origin, "dense.bf16") != nullptr);
  CHECK(origin_of(g.origin, "dense.bf16")->source == "test");
  CHECK(origin_of(g.origin, "dense.fp8") == nullptr);
}

TEST_CASE("a scale-up domain must fit the nodes and name its fabric") {
  Node n;
  n.gpus = 4;
  n.scale_up_domain = 72;
  n.fabric = "nvlink5-nvl72";
  n.origin = {{{"gpus", "scale_up_domain"}, Evidence::Specified, "test"}};
  CHECK(complaints(n).empty());
  n.scale_up_domain = 70;
  CHECK(complaints(n).size() == 1);
  n.scale_up_domain = 72;
  n.fabric.clear();
  CHECK(complaints(n).size() == 1);
}
