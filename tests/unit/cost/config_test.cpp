#include "catch.hpp"
#include "config/json_reader.hpp"
#include "cost/efficiency.hpp"
#include "cost/fixed.hpp"
#include "cost/host.hpp"
#include "cost/parallel.hpp"

using namespace servecast;
using namespace servecast::cost;

namespace {

template <typename T>
T parsed(const char* text) {
  return config::read<T>(config::Document::from_text(text, "t.json"));
}

}  // namespace

TEST_CASE("constants of a stack are read over their defaults") {
  const HostConstants h = parsed<HostConstants>(R"({"small_kernel_us": 1.8, "prefill_factor": 1.09})");
  CHECK(h.small_kernel_us == 1.8);
  CHECK(h.prefill_factor == 1.09);
  CHECK(h.prefill_step_ms == 5.0);
  const Efficiency e = parsed<Efficiency>(R"({"fp8": {"streaming": 0.9}})");
  CHECK(e.fp8.streaming == 0.9);
  CHECK(e.fp8.large == 0.75);
  CHECK(e.fp4.floor_us == 5.5);
  CHECK(parsed<FixedConfig>(R"({"step_us": 12})").step_us == 12);
  CHECK(parsed<Parallel>(R"({"tensor": 4})").gpus() == 4);
}

TEST_CASE("a prefill factor that would make mixed steps shorter is refused") {
  CHECK_THROWS_AS(parsed<HostConstants>(R"({"prefill_factor": 0.9})"), core::InputError);
  CHECK_THROWS_AS(parsed<Efficiency>(R"({"bf16": {"small": 0.9, "large": 0.5}})"), core::InputError);
}

TEST_CASE("fixed steps that take no time are refused, because time would stand still") {
  CHECK_THROWS_AS(parsed<FixedConfig>("{}"), core::InputError);
  CHECK_THROWS_AS(parsed<FixedConfig>(R"({"step_us": 1e-9})"), core::InputError);
  CHECK_THROWS_AS(parsed<FixedConfig>(R"({"prefill_token_us": 1})"), core::InputError);
  CHECK(parsed<FixedConfig>(R"({"prefill_token_us": 1, "decode_request_us": 2})").step_us == 0);
}
