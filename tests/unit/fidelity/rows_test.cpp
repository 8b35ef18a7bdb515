#include "fidelity/rows.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "fidelity/doubtful.hpp"

using namespace servecast;
using namespace servecast::fidelity;

namespace {

CsvRow row() {
  return {{"id", "r1"},
          {"gpu", "NVIDIA B200 SXM"},
          {"n_gpus", "2"},
          {"model", "openai/gpt-oss-120b"},
          {"weight_precision", "fp4"},
          {"kv_precision", ""},
          {"moe_precision", "nvfp4"},
          {"engine", "vllm 0.15.1"},
          {"parallelism", "tp=2;pp=1;attn_dp=1;moe_tp=2;moe_ep=1"},
          {"mode", "agg"},
          {"isl", "8192"},
          {"osl", "1024"},
          {"concurrency", "16"},
          {"ttft_ms", "300"},
          {"tpot_ms", "10"}};
}

CsvRow published() {
  return {{"id", "p1"},
          {"hardware", "NVIDIA H200"},
          {"n_gpus", "4"},
          {"model", "Llama-3.3-70B"},
          {"weight_precision", "fp8"},
          {"kv_precision", "fp8"},
          {"framework", "TensorRT-LLM 1.0 (PyTorch)"},
          {"parallelism", "tp=2;pp=1"},
          {"isl", "2048"},
          {"osl", "128"},
          {"scenario", "static-offline"},
          {"metric", "output_throughput"},
          {"value", "1000"},
          {"unit", "tok/s"}};
}

RowContext context() {
  static const std::vector<scenario::Stack> stacks = scenario::built_in_stacks();
  return {stacks, false};
}

CsvRow with(CsvRow r, const std::string& column, const std::string& value) {
  r[column] = value;
  return r;
}

CsvTable table_of(const std::vector<CsvRow>& rows) {
  CsvTable t;
  for (const auto& [column, text] : rows.front()) t.header.push_back(column);
  t.rows = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) t.lines.push_back(i + 2);
  return t;
}

}  // namespace

TEST_CASE("a closed-loop row becomes a closed loop of ten requests a client with lengths of 80 to 100 per cent") {
  const Case c = serving_case(row(), context());
  REQUIRE(c.fate == Fate::Predicted);
  const scenario::Scenario& s = *c.scenario;
  CHECK(s.model.name == "gpt-oss-120b");
  CHECK(s.cluster.node.name == "hgx-b200");
  CHECK(s.pools[0].parallel.tensor == 2);
  REQUIRE(s.workload.closed_loop);
  CHECK(s.workload.closed_loop->concurrency == 16);
  CHECK(*s.workload.closed_loop->requests == 160);
  CHECK(*s.workload.input_tokens->min == 6554);
  CHECK(*s.workload.input_tokens->max == 8192);
  CHECK(*s.pools[0].engine.max_num_batched_tokens == 8192);
  REQUIRE(c.measures.size() == 2);
  CHECK(c.measures[0].measured == 300);
}

TEST_CASE("other lengths are fixed") {
  const Case c = serving_case(with(with(row(), "isl", "4096"), "osl", "512"), context());
  CHECK(*c.scenario->workload.input_tokens->value == 4096);
  CHECK(*c.scenario->workload.output_tokens->value == 512);
}

TEST_CASE("empty formats are the checkpoint's, and the KV cache the engine's automatic choice") {
  const Case mxfp4 = serving_case(row(), context());
  CHECK_FALSE(mxfp4.scenario->pools[0].precision.weights);
  CHECK(mxfp4.scenario->pools[0].precision.kv_cache == precision::Format::Fp8);
  CsvRow dense = with(with(row(), "model", "Qwen/Qwen3-32B"), "weight_precision", "");
  dense = with(with(with(dense, "gpu", "NVIDIA H100 SXM"), "engine", "vllm 0.12.0"), "moe_precision", "");
  const Case bf16 = serving_case(dense, context());
  CHECK_FALSE(bf16.scenario->pools[0].precision.weights);
  CHECK(bf16.scenario->pools[0].precision.kv_cache == precision::Format::BFloat16);
  const Case fp8 = serving_case(with(dense, "weight_precision", "fp8"), context());
  CHECK(fp8.scenario->pools[0].precision.weights == precision::Format::Fp8);
}

TEST_CASE("rows that cannot be expressed are refused with their reason") {
  CHECK(serving_case(with(row(), "concurrency", ""), context()).reason == "no concurrency stated");
  CHECK(serving_case(with(row(), "mode", "disagg"), context()).reason == "prefill and decode are disaggregated");
  CHECK(serving_case(with(row(), "model", "acme/none"), context()).reason == "unknown model");
  CHECK(serving_case(with(row(), "gpu", "NVIDIA H800"), context()).reason == "unknown GPU");
  CHECK(serving_case(with(row(), "engine", "lmdeploy 0.9"), context()).reason == "unknown engine");
  CHECK(serving_case(with(row(), "weight_precision", "fp3"), context()).reason == "unknown number format");
  CHECK(serving_case(with(row(), "tpot_ms", "-1"), context()).reason == "measured value is not positive");
}

TEST_CASE("client settings of a row are off unless a column or the caller asks for them") {
  CHECK(serving_case(row(), context()).options.stream_interval == 1);
  const Case column = serving_case(with(with(row(), "stream_interval", "20"), "extra_clients", "1"), context());
  CHECK(column.options.stream_interval == 20);
  CHECK(column.scenario->workload.closed_loop->concurrency == 17);
  CHECK(*column.scenario->pools[0].engine.max_num_seqs == 16);
}

TEST_CASE("equal keys with values within a thousandth count once") {
  const auto cases =
      cases_of(table_of({row(), with(row(), "id", "r2"), with(with(row(), "id", "r3"), "ttft_ms", "301")}),
               Kind::ServingClosedLoop, context());
  CHECK(cases[0].fate == Fate::Predicted);
  CHECK(cases[1].fate == Fate::Duplicate);
  CHECK(cases[1].detail == "repeats row r1");
  CHECK(cases[2].fate == Fate::Predicted);
}

TEST_CASE("an offline row queues everything at time zero, and its copies share the GPUs") {
  const Case c = published_case(published(), context());
  REQUIRE(c.fate == Fate::Predicted);
  CHECK(c.copies == 2);
  CHECK(c.gpus == 4);
  CHECK(c.scenario->workload.arrivals->process == workload::Process::AllAtOnce);
  CHECK(*c.scenario->workload.requests == 3000);
}

TEST_CASE("figures of other kinds are context") {
  CHECK(published_case(with(published(), "scenario", "per-step"), context()).fate == Fate::Context);
  CHECK(published_case(with(published(), "metric", "mean_osl_derived"), context()).fate == Fate::Context);
}

TEST_CASE("kinds are told apart by their columns, and an unknown header is an input error") {
  CHECK(kind_of(table_of({row()}), "t") == Kind::ServingClosedLoop);
  CHECK(kind_of(table_of({published()}), "t") == Kind::Published);
  CHECK_THROWS_AS(kind_of(table_of({{{"a", "1"}}}), "t"), core::InputError);
}

TEST_CASE("distrusted values are known by their row") {
  CHECK(doubt({"gpt-oss-120b", "h100", "vllm 0.11.2", "fp4", 2, 1024, 1024, 512}, "ttft_ms") != "");
  CHECK(doubt({"gpt-oss-120b", "h100", "vllm 0.11.2", "fp4", 2, 1024, 1024, 256}, "ttft_ms") == "");
  CHECK(doubt({"qwen3-235b-a22b", "h200", "sglang 0.5.6", "fp8", 4, 4096, 512, 8}, "ttft_ms") != "");
  CHECK(doubt({"qwen3-235b-a22b", "h200", "sglang 0.5.6", "fp8", 4, 4096, 512, 8}, "tpot_ms") == "");
}
