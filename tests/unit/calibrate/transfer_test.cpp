// What a kernel takes on a GPU that differs in one number only.
#include "catch.hpp"
#include "cost/kernels/physics.hpp"
#include "samples.hpp"

using namespace servecast;
using namespace servecast::cost::kernels;

namespace {

Parameters starts(Family family) {
  Parameters out{};
  for (std::size_t i = 0; i < info(family).parameters.size(); ++i) out[i] = info(family).parameters[i].start;
  return out;
}

// Time with half the memory bandwidth over time with all of it.
double slowdown(Family family, const char* variant, const Parameters& p, const Features& x) {
  Key key;
  key.family = family;
  key.variant = variant;
  Machine machine = cost::kernels::machine(samples::gpu());
  const double own = physics(context(key, machine), p, x, false).us;
  machine.bytes_per_us /= 2;
  return physics(context(key, machine), p, x, false).us / own;
}

}  // namespace

TEST_CASE("large multiplications of few rows follow the memory bandwidth, small ones do not") {
  Parameters p = starts(Family::Gemm);
  p[5] = 9, p[6] = 80;  // a sharp corner; multiprocessors that keep up with the memory
  CHECK(slowdown(Family::Gemm, "", p, {16, 28672, 28672}) > 1.8);
  CHECK(slowdown(Family::Gemm, "", p, {16, 1024, 1024}) < 1.02);
}

TEST_CASE("prefill attention does not slow down with the memory") {
  CHECK(slowdown(Family::Prefill, "", starts(Family::Prefill), {4, 512, 32, 8, 128, 0, 0}) < 1.02);
}

TEST_CASE("decode attention follows the memory, unless its multiprocessors are slower") {
  Parameters p = starts(Family::Decode);
  p[6] = 9, p[7] = 80;
  const Features x = {256, 32, 8, 128, 16384, 0};
  CHECK(slowdown(Family::Decode, "gqa", p, x) > 1.8);
  p[7] = 10;  // kB/us per multiprocessor: a fifth of what the memory delivers
  CHECK(slowdown(Family::Decode, "gqa", p, x) < 1.05);
}

TEST_CASE("wide head ratios read the cache once from memory, though every query head works on it") {
  const Parameters p = starts(Family::Decode);
  const Features x = {256, 64, 1, 128, 16384, 0};
  CHECK(slowdown(Family::Decode, "wide", p, x) < 1.05);
}
