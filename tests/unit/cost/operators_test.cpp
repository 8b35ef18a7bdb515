#include "cost/operators.hpp"

#include "catch.hpp"
#include "samples.hpp"

#include <algorithm>

using namespace servecast;
using namespace servecast::cost;
using precision::Format;

namespace {

double flops(const std::vector<TimedOperator>& times) {
  double sum = 0;
  for (const TimedOperator& t : times) sum += t.time.flops;
  return sum;
}

double launches(const StepModel& m, std::string_view name) {
  for (const TimedOperator& t : m.token_times(1)) {
    if (t.op->name == name) return t.op->count;
  }
  return 0;
}

}  // namespace

// SPEC 3.7: forward FLOPs = 2 * parameters * tokens, embedding table excluded, LM head on every row.
TEST_CASE("matrix multiplications of a dense model do two FLOPs per parameter and token") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  in.cuda_graphs = false;
  const StepModel m(in);
  const double layer = 8192.0 * (64 + 2 * 8) * 128 + 64.0 * 128 * 8192 + 3.0 * 8192 * 28672;
  const double parameters = 80 * layer + 8192.0 * 128256;
  CHECK(flops(m.token_times(1000)) + flops(m.row_times(1000)) == Approx(2 * parameters * 1000).epsilon(1e-12));
  CHECK(parameters + 8192.0 * 128256 == Approx(70.55e9).epsilon(0.001));
}

TEST_CASE("tensor parallelism divides the FLOPs") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput one = samples::input(a, gpu, 1);
  StepModelInput eight = samples::input(a, gpu, 8);
  CHECK(flops(StepModel(eight).token_times(512)) == Approx(flops(StepModel(one).token_times(512)) / 8).epsilon(1e-12));
}

// SPEC 3.7: Llama-70B in FP8 on 8 TB/s at 0.9: 70e9 / 7.2e12 = 9.7 ms.
TEST_CASE("one decoding sequence streams the weights") {
  const model::Architecture a = samples::llama_70b();
  hardware::Gpu gpu = samples::b200();
  gpu.memory_tb_s = 8.0;
  StepModelInput in = samples::input(a, gpu);
  in.precision.weights.lm_head = Format::Fp8;
  in.efficiency.bf16.streaming = in.efficiency.fp8.streaming = 0.9;
  const StepModel m(in);
  const double memory_s = m.tokens(1, false).memory_s + m.rows(1, false).memory_s;
  CHECK(memory_s * 1e3 == Approx(9.7).epsilon(0.01));
}

TEST_CASE("distinct experts follow the published table") {
  CHECK(distinct_experts(256, 8, 1) == Approx(8).margin(0.05));
  CHECK(distinct_experts(256, 8, 4) == Approx(30.5).margin(0.05));
  CHECK(distinct_experts(256, 8, 16) == Approx(102.0).margin(0.05));
  CHECK(distinct_experts(256, 8, 32) == Approx(163.3).margin(0.05));
  CHECK(distinct_experts(256, 8, 64) == Approx(222.4).margin(0.05));
  CHECK(distinct_experts(256, 8, 128) == Approx(251.6).margin(0.05));
  CHECK(distinct_experts(256, 8, 256) == Approx(255.9).margin(0.05));
  CHECK(distinct_experts(128, 8, 4) == Approx(29.1).margin(0.05));
  CHECK(distinct_experts(128, 8, 16) == Approx(82.4).margin(0.05));
  CHECK(distinct_experts(128, 8, 32) == Approx(111.8).margin(0.05));
  CHECK(distinct_experts(128, 8, 64) == Approx(125.9).margin(0.05));
  CHECK(distinct_experts(128, 4, 4) == Approx(15.3).margin(0.05));
  CHECK(distinct_experts(128, 4, 16) == Approx(51.0).margin(0.05));
  CHECK(distinct_experts(128, 4, 32) == Approx(81.7).margin(0.05));
  CHECK(distinct_experts(128, 4, 64) == Approx(111.2).margin(0.05));
  CHECK(distinct_experts(128, 4, 128) == Approx(125.8).margin(0.05));
  CHECK(distinct_experts(8, 2, 4) == Approx(5.5).margin(0.05));
  CHECK(distinct_experts(8, 2, 16) == Approx(7.9).margin(0.05));
}

// SPEC 3.7: an NVFP4 expert of DeepSeek-V3 is 3 * 7168 * 2048 * 0.5625 = 24.8 MB.
TEST_CASE("an expert reads its weights once however many tokens it has") {
  const model::Architecture a = samples::deepseek_v3();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  in.precision = samples::all(Format::Nvfp4, Format::Fp8);
  double expert = 0;
  const StepModel m(in);
  for (const TimedOperator& t : m.token_times(1)) {
    if (t.op->kind == Kind::Experts) expert += t.op->weight_bytes;
  }
  CHECK(expert == Approx(3.0 * 7168 * 2048 * 0.5625));
}

TEST_CASE("a layer launches five small kernels, and one more with norms of q and k") {
  const hardware::Gpu gpu = samples::b200();
  for (const bool norms : {false, true}) {
    model::Architecture a = samples::llama_8b();
    a.attention.qk_norm = norms;
    const StepModelInput in = samples::input(a, gpu);
    const StepModel m(in);
    double small = 0;
    for (const TimedOperator& t : m.token_times(1)) {
      if (t.op->kind == Kind::Small && t.op->name != "embedding") small += t.op->count;
    }
    CHECK(small == 32 * (norms ? 6 : 5));
  }
}

TEST_CASE("a tensor-parallel step makes two all-reduces per layer and one for the embedding") {
  model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = samples::b200();
  CHECK(launches(StepModel(samples::input(a, gpu, 2)), "all-reduce") == 65);
  CHECK(launches(StepModel(samples::input(a, gpu, 1)), "all-reduce") == 0);
  a.attention.qk_norm_all_heads = true;
  CHECK(launches(StepModel(samples::input(a, gpu, 2)), "q and k norm all-reduce") == 64);
}

TEST_CASE("a fused all-reduce takes along the norm after it, on more than one GPU") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu, 2);
  CHECK(launches(StepModel(in), "norm") == 64);
  in.host.fused_all_reduce_norm = true;
  CHECK(launches(StepModel(in), "norm") == 1);
  in.parallel.tensor = 1;
  CHECK(launches(StepModel(in), "norm") == 64);
}

TEST_CASE("NVFP4 launches two quantisations per layer where FP8 fuses them") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  CHECK(launches(StepModel(in), "activation quantisation") == 0);
  in.precision = samples::all(Format::Nvfp4, Format::Fp8);
  CHECK(launches(StepModel(in), "activation quantisation") == 64);
}

TEST_CASE("the wider of weights and activations sets the tensor-core rate") {
  const hardware::Gpu b200 = samples::b200();
  const Efficiency e;
  const auto rate = [&](Format w, Format a, const hardware::Gpu& g) { return matrix_math(w, a, g, e).rate; };
  CHECK(rate(Format::Nvfp4, Format::Nvfp4, b200) == Rate::Fp4);
  CHECK(rate(Format::Nvfp4, Format::Fp8, b200) == Rate::Fp8);
  CHECK(rate(Format::Nvfp4, Format::BFloat16, b200) == Rate::Bf16);
  CHECK(rate(Format::Mxfp4, Format::Mxfp8, b200) == Rate::Fp8);
  CHECK(rate(Format::BFloat16, Format::Nvfp4, b200) == Rate::Bf16);
  CHECK(rate(Format::Fp8Block, Format::Fp8Block, b200) == Rate::Fp8);
  CHECK(rate(Format::Fp8, Format::Nvfp4, b200) == Rate::Fp8);
  CHECK(rate(Format::Int4Group128, Format::BFloat16, b200) == Rate::Bf16);
  CHECK(rate(Format::Int8, Format::Int8, b200) == Rate::Int8);
  CHECK(rate(Format::Nvfp4, Format::Nvfp4, samples::h100()) == Rate::Bf16);
  CHECK(matrix_math(Format::Nvfp4, Format::Nvfp4, samples::h100(), e).weight_bytes == 0.5625);
  CHECK(matrix_math(Format::Nvfp4, Format::Nvfp4, samples::h100(), e).flops_per_s == 989e12);
}

TEST_CASE("no operator gets faster with more tokens") {
  const hardware::Gpu gpu = samples::b200();
  const model::Architecture moe = samples::deepseek_v3();
  StepModelInput in = samples::input(moe, gpu, 8);
  for (const bool graphs : {true, false}) {
    in.cuda_graphs = graphs;
    const StepModel m(in);
    std::vector<double> last(m.token_times(1).size(), 0.0);
    for (std::int32_t n = 1; n <= 8192; n += 1 + n / 50) {
      const std::vector<TimedOperator> now = m.token_times(n);
      for (std::size_t i = 0; i < now.size(); ++i) {
        INFO(now[i].op->name << " at " << n);
        REQUIRE(now[i].time.total_s() >= last[i] * (1 - 1e-12));
        last[i] = now[i].time.total_s();
      }
    }
  }
}
