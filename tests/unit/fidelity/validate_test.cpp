#include "fidelity/validate.hpp"

#include "catch.hpp"
#include "core/error.hpp"

using namespace servecast;
using namespace servecast::fidelity;

namespace {

const std::string header =
    "id,date,gpu,n_gpus,model,weight_precision,kv_precision,moe_precision,engine,parallelism,mode,isl,osl,concurrency,"
    "ttft_ms,tpot_ms\n";

std::string line(const std::string& id, const std::string& concurrency,
                 const std::string& parallelism = "tp=1;pp=1;attn_dp=1;moe_tp=1;moe_ep=1") {
  return id + ",2026-01-01,NVIDIA H100 SXM,1,Qwen/Qwen3-8B,,,,vllm 0.19.0," + parallelism + ",agg,1024,128," +
         concurrency + ",50,8\n";
}

Validation run(const std::string& text, int threads = 1) {
  ValidateOptions options;
  options.threads = threads;
  return validate(parse_csv(text, "t.csv"), "t.csv", options);
}

}  // namespace

TEST_CASE("every row is predicted, refused or a duplicate, and counted") {
  const Validation v = run(header + line("a", "1") + line("b", "4") + line("c", "4") + line("d", "") +
                           line("e", "2", "tp=1;pp=2;attn_dp=1;moe_tp=1;moe_ep=1"));
  CHECK(v.predicted == 2);
  CHECK(v.duplicates == 1);
  REQUIRE(v.refused.size() == 2);
  CHECK(v.refused.at("no concurrency stated") == 1);
  CHECK(v.cases.size() == 5);
  REQUIRE(v.groups.size() == 1);
  CHECK(v.groups[0].match == scenario::Match::Exact);
  REQUIRE(v.all.size() == 2);
  CHECK(v.all[0].metric == "tpot_ms");
  CHECK(v.all[0].scored.count == 2);
  CHECK(v.configurations == 1);
}

TEST_CASE("more clients are predicted to be slower, and the answer does not depend on threads") {
  const std::string text = header + line("a", "1") + line("b", "8") + line("c", "32");
  const Validation one = run(text, 1);
  CHECK(*one.cases[0].measures[1].predicted < *one.cases[2].measures[1].predicted);
  CHECK(validation_json(one) == validation_json(run(text, 3)));
  CHECK(worst_rows(one, 1).size() == 1);
}

TEST_CASE("a limit on the median error fails a validation that exceeds it") {
  const Validation v = run(header + line("a", "1"));
  CHECK(exceeded(v, {{"tpot_ms", 1e9}}).empty());
  CHECK(exceeded(v, {{"tpot_ms", 0}}).size() == 1);
  CHECK(error_limit("tpot_ms=6.5").percent == 6.5);
  CHECK_THROWS_AS(error_limit("tpot_ms"), core::InputError);
  CHECK_THROWS_AS(error_limit("tpot_ms=six"), core::InputError);
}

TEST_CASE("a file without rows is an input error") { CHECK_THROWS_AS(run(header), core::InputError); }

TEST_CASE("a limit on what a file does not score is refused before anything is predicted") {
  ValidateOptions options;
  options.limits = {{"itl_ms", 5}};
  bool began = false;
  options.progress = [&began](std::size_t, std::size_t) { began = true; };
  CHECK_THROWS_WITH(validate(parse_csv(header + line("a", "1"), "t.csv"), "t.csv", options),
                    Catch::Contains("--max-error: itl_ms is not scored here"));
  CHECK_FALSE(began);
}

TEST_CASE("the scenario of a row can be taken out of its file, by its line") {
  const std::string points = std::string(SERVECAST_SOURCE_DIR) + "/tests/fidelity/points.csv";
  const std::string document = scenario_of_line(points, 2, true);
  CHECK(document.find("\"version\": 1") != std::string::npos);
  CHECK(document.find("\"closed_loop\"") != std::string::npos);
  CHECK_THROWS_WITH(scenario_of_line(points, 1, true), Catch::Contains("no row of the table is on this line"));
  CHECK_THROWS_WITH(scenario_of_line(points, 100'000, true), Catch::Contains("points.csv:100000"));
}
