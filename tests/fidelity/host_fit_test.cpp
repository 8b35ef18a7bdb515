// Constants are found again where the rows were made with known ones.
#include "fidelity/host_fit.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "fidelity/validate.hpp"

#include <fmt/format.h>

using namespace servecast;
using namespace servecast::fidelity;

namespace {

const std::string header =
    "id,date,gpu,n_gpus,model,weight_precision,kv_precision,moe_precision,engine,parallelism,mode,isl,osl,concurrency,"
    "ttft_ms,tpot_ms\n";

std::string row(int clients, double ttft_ms, double tpot_ms) {
  return fmt::format(
      "r{0},2026-01-01,NVIDIA H100 SXM,1,Qwen/Qwen3-8B,,,,vllm 0.19.0,tp=1;pp=1;attn_dp=1;moe_tp=1;"
      "moe_ep=1,agg,512,32,{0},{1},{2}\n",
      clients, ttft_ms, tpot_ms);
}

// Rows as the built-in constants predict them, every first token `late` ms later.
CsvTable made_with(double late) {
  std::string text = header;
  for (const int clients : {1, 2, 4}) text += row(clients, 50, 8);
  const Validation v = validate(parse_csv(text, "t.csv"), "t.csv", {});
  text = header;
  for (std::size_t i = 0; i < 3; ++i) {
    const Case& c = v.cases[i];
    const auto predicted = [&c](const char* metric) {
      for (const Measure& m : c.measures)
        if (m.metric == metric) return *m.predicted;
      return 0.0;
    };
    text += row(1 << i, predicted("ttft_ms") + late, predicted("tpot_ms"));
  }
  return parse_csv(text, "t.csv");
}

}  // namespace

TEST_CASE("a front end that is 20 ms slower is found in the rows, and nothing else moves far") {
  const HostFit fit = fit_host(made_with(20), "t.csv", "vllm-0.19", {});
  REQUIRE(fit.errors_after.size() == 1);
  CHECK(fit.errors_before[0].ttft.median > 0.2);
  CHECK(fit.errors_after[0].ttft.median < 0.05);
  CHECK(fit.errors_after[0].tpot.median < 0.02);
  CHECK(fit.after.frontend_ms + fit.after.prefill_step_ms > fit.before.frontend_ms + fit.before.prefill_step_ms + 15);
  CHECK(fit.errors_left_out.empty());  // one model only
}

TEST_CASE("rows made with the built-in constants leave them as they are") {
  const HostFit fit = fit_host(made_with(0), "t.csv", "vllm-0.19", {});
  CHECK(fit.after.frontend_ms == fit.before.frontend_ms);
  CHECK(fit.after.small_kernel_us == fit.before.small_kernel_us);
}

TEST_CASE("an unknown stack and rows of another stack are refused by name") {
  CHECK_THROWS_AS(fit_host(made_with(0), "t.csv", "vllm-9", {}), core::InputError);
  CHECK_THROWS_AS(fit_host(made_with(0), "t.csv", "sglang-0.5", {}), core::InputError);
}
