#include "cost/host.hpp"

#include "catch.hpp"

using namespace servecast;
using namespace servecast::cost;

namespace {

HostConstants constants() {
  HostConstants h;
  h.schedule_us = 100;
  h.per_running_us = 10;
  h.per_new_us = 5;
  h.exposed_us = 7;
  h.exposed_per_running_us = 1;
  h.prefill_step_ms = 2;
  h.prefill_per_token_us = 3;
  return h;
}

std::int64_t us(std::int64_t n) { return n * 1000000; }

}  // namespace

TEST_CASE("a synchronous engine adds all host time to the GPU's") {
  const HostTime t = compile(constants(), false);
  CHECK(t.extra(us(1000), 4, 0, 0) == us(100 + 40 + 7 + 4));
  CHECK(t.extra(us(1000), 4, 2, 10) == us(100 + 60 + 10 + 7 + 6 + 2000 + 30));
}

TEST_CASE("an asynchronous engine shows only what exceeds the GPU's time and what is never hidden") {
  const HostTime t = compile(constants(), true);
  CHECK(t.extra(us(1000), 4, 0, 0) == us(11));
  CHECK(t.extra(us(100), 4, 0, 0) == us(40 + 11));
  CHECK(t.extra(0, 4, 0, 0) == us(140 + 11));
}
