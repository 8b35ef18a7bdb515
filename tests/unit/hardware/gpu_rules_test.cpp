#include "hardware/gpu_rules.hpp"

#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "hardware/dies.hpp"
#include "hardware/power.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace servecast;
using namespace servecast::hardware;

namespace {

Gpu profile(const std::string& name) {
  const auto path = std::filesystem::path(SERVECAST_SOURCE_DIR) / "hardware_profiles" / "gpus" / (name + ".json");
  return config::read<Gpu>(config::Document::load(path));
}

std::vector<std::string> complaints(const Gpu& g) {
  std::vector<std::string> all;
  const Complain add = [&](std::string_view key, const std::string& m) { all.push_back(std::string(key) + ": " + m); };
  check_peaks(g, add);
  check_memory(g, add);
  return all;
}

double per_clock(const Gpu& g) {
  const double mhz = g.peak_mhz > 0 ? g.peak_mhz : g.boost_mhz;
  return g.dense.bf16 * 1e6 / (g.sm_count * mhz);
}

}  // namespace

TEST_CASE("an SM does 2048, 4096 and 8192 dense BF16 operations a clock on Ampere, Hopper and Blackwell") {
  for (const char* name : {"a100-40gb", "a100-80gb"}) CHECK(per_clock(profile(name)) == Approx(2048).epsilon(0.001));
  for (const char* name : {"h100", "h200"}) CHECK(per_clock(profile(name)) == Approx(4096).epsilon(0.001));
  for (const char* name : {"b200", "gb200", "b300"}) CHECK(per_clock(profile(name)) == Approx(8192).epsilon(0.001));
}

TEST_CASE("a sparse peak is told by what an SM does per clock, without any sparse figure beside it") {
  for (const char* name : {"a100-80gb", "h100", "b200"}) {
    CAPTURE(name);
    Gpu g = profile(name);
    g.sparse = {};
    REQUIRE(complaints(g).empty());
    g.dense.bf16 *= 2;
    g.dense.fp8 *= 2;
    g.dense.fp4 *= 2;
    REQUIRE(complaints(g).size() == 1);
    CHECK(complaints(g)[0].find("FLOP per SM and clock") != std::string::npos);
    CHECK(complaints(g)[0].find("looks like the sparse peak") != std::string::npos);
  }
}

TEST_CASE("the peak of half a chip, and figures 11 per cent off, are refused") {
  Gpu g = profile("h100");
  g.sparse = {};
  g.dense.fp8 = 0;
  g.dense.bf16 = 494.5;
  REQUIRE(complaints(g).size() == 1);
  CHECK(complaints(g)[0].find("one of two dies") != std::string::npos);
  g.dense.bf16 = 989 * 1.09;
  CHECK(complaints(g).empty());
  g.dense.bf16 = 989 * 1.11;
  CHECK(complaints(g).size() == 1);
}

TEST_CASE("FP8 and FP4 peaks stay within what narrower formats gain") {
  Gpu g = profile("b200");
  g.sparse = {};
  g.dense.fp8 = 4500 * 1.03;
  REQUIRE(complaints(g).size() == 1);
  CHECK(complaints(g)[0].find("dense/fp8") == 0);
  g.dense.fp8 = 4500;
  g.dense.fp4 = 14000;
  REQUIRE(complaints(g).size() == 1);
  CHECK(complaints(g)[0].find("looks like the sparse peak") != std::string::npos);
  g.architecture = "blackwell_ultra";
  CHECK(complaints(g).empty());
  g.dense.fp4 = 2250 * 6.8;
  CHECK(complaints(g).size() == 1);
}

TEST_CASE("architectures nobody described are checked by their ratios alone") {
  Gpu g;
  g.architecture = "rubin";
  g.sm_count = 224;
  g.boost_mhz = 2000;
  g.dense.bf16 = 8000;
  CHECK(complaints(g).empty());
  g.dense.fp8 = 17000;
  CHECK(complaints(g).size() == 1);
}

TEST_CASE("the memory rate follows from bus width and data rate") {
  Gpu g = profile("b200");
  CHECK(g.memory.bus_bits * g.memory.gbit_s_per_pin / 8 / 1000 == Approx(7.672).epsilon(1e-4));
  g.memory_tb_s = 8.0;
  REQUIRE(complaints(g).size() == 1);
  CHECK(complaints(g)[0].find("memory_tb_s: 8 differs from 7680 bits x 7.992 Gbit/s = 7.672 TB/s") == 0);
}

TEST_CASE("one die is half of everything but the link and the latency over it") {
  const Gpu g = profile("b200");
  const Gpu die = one_die(g);
  CHECK(die.dies == 1);
  CHECK(die.whole == "b200");
  CHECK(die.sm_count == 74);
  CHECK(die.dense.bf16 == 1125);
  CHECK(die.dense.fp4 == 4500);
  CHECK(die.memory_tb_s == Approx(3.836));
  CHECK(die.memory_gib == Approx(89.175));
  CHECK(die.l2_mb == Approx(63.25));
  CHECK(die.tdp_w == 500);
  CHECK(die.die_link_tb_s == 10);
}

TEST_CASE("power that a profile does not state is scaled by its limit, and says so") {
  const PowerFacts b200 = power_facts(profile("b200"));
  CHECK_FALSE(b200.scaled);
  const PowerFacts h100 = power_facts(profile("h100"));
  CHECK(h100.scaled);
  CHECK(h100.active_w == Approx(0.7 * b200.active_w));
  // At the peak rate of either, arithmetic draws the same share of the limit.
  CHECK(h100.bf16_j * 989e12 / 700 == Approx(b200.bf16_j * 2250e12 / 1000));
  CHECK(h100.memory_j * 3.35e12 / 700 == Approx(b200.memory_j * 7.672e12 / 1000));
}

TEST_CASE("the figures that are scaled are those of the B200 profile") {
  Gpu bare = profile("b200");
  const PowerFacts stated = power_facts(bare);
  bare.power = {};
  const PowerFacts scaled = power_facts(bare);
  CHECK(scaled.scaled);
  CHECK(scaled.loaded_idle_w == stated.loaded_idle_w);
  CHECK(scaled.active_w == stated.active_w);
  CHECK(scaled.bf16_j == Approx(stated.bf16_j));
  CHECK(scaled.fp8_j == Approx(stated.fp8_j));
  CHECK(scaled.fp4_j == Approx(stated.fp4_j));
  CHECK(scaled.memory_j == Approx(stated.memory_j));
  CHECK(scaled.die_link_j == Approx(stated.die_link_j));
  CHECK(scaled.scale_up_j == Approx(stated.scale_up_j));
  CHECK(scaled.clock_exponent == stated.clock_exponent);
  CHECK(scaled.regulated == stated.regulated);
}
