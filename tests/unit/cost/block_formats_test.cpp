// Feed-forward formats that differ by block, and who converts the inputs of multiplications.
#include "catch.hpp"
#include "cost/compiled.hpp"
#include "cost/explain.hpp"
#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <string>

using namespace servecast;
using namespace servecast::cost;
using precision::Format;

namespace {

StepShape decoders(std::int32_t n) {
  StepShape s;
  s.decode_requests = s.sampled_rows = n;
  s.decode_context = std::int64_t{n} * 1000;
  s.decode_context_windowed = s.decode_context;
  return s;
}

hardware::Gpu blackwell() {
  hardware::Gpu g = samples::b200();
  g.architecture = "blackwell";
  return g;
}

StepModelInput with(const model::Architecture& a, const hardware::Gpu& g, Format attention, Format blocks) {
  StepModelInput in = samples::input(a, g);
  in.precision = samples::all(attention, Format::Fp8);
  in.precision.weights.feed_forward.assign(static_cast<std::size_t>(a.layers), blocks);
  return in;
}

double total_us(const StepModelInput& in) { return core::to_seconds(StepModel(in).step(decoders(64)).total) * 1e6; }

double launches(const StepModelInput& in, const std::string& name) {
  double sum = 0;
  const StepModel m(in);
  for (const TimedOperator& t : m.token_times(64))
    if (full_name(*t.op) == name) sum += t.op->count;
  return sum;
}

double seconds(const StepModelInput& in, const std::string& name) {
  double sum = 0;
  const StepModel m(in);
  for (const TimedOperator& t : m.token_times(64))
    if (t.op->name == name) sum += t.time.total_s();
  return sum;
}

}  // namespace

TEST_CASE("one format for all blocks takes what the same format stated by class takes") {
  const hardware::Gpu gpu = blackwell();
  for (const model::Architecture& a : {samples::llama_8b(), samples::deepseek_v3(), samples::gpt_oss_120b()}) {
    for (const Format f : {Format::Fp8, Format::Nvfp4}) {
      StepModelInput stated = samples::input(a, gpu);
      stated.precision = samples::all(f, Format::Fp8);
      INFO(a.name << " in " << precision::name(f));
      CHECK(total_us(with(a, gpu, f, f)) == Approx(total_us(stated)).epsilon(1e-9));
    }
  }
}

TEST_CASE("a step of mixed blocks lies between those of its formats, and nearer with more blocks") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = blackwell();
  const double narrow = total_us(with(a, gpu, Format::Fp8, Format::Nvfp4));
  const double wide = total_us(with(a, gpu, Format::Fp8, Format::BFloat16));
  REQUIRE(narrow < wide);
  double before = wide;
  for (const std::size_t blocks : {8U, 16U, 24U}) {
    StepModelInput in = with(a, gpu, Format::Fp8, Format::BFloat16);
    for (std::size_t i = 0; i < blocks; ++i) in.precision.weights.feed_forward[i] = Format::Nvfp4;
    const double now = total_us(in);
    CHECK(now < before);
    CHECK(now == Approx(wide + (narrow - wide) * static_cast<double>(blocks) / 32).epsilon(1e-6));
    before = now;
  }
}

TEST_CASE("operators of mixed blocks are told apart by their format and compile to the same step") {
  const model::Architecture a = samples::deepseek_v3();
  const hardware::Gpu gpu = blackwell();
  StepModelInput in = with(a, gpu, Format::Fp8, Format::Nvfp4);
  in.parallel.tensor = 8;
  in.precision.weights.feed_forward[0] = in.precision.weights.feed_forward[60] = Format::Fp8;
  CHECK(launches(in, "mlp gate and up fp8") == 1);
  CHECK(launches(in, "mlp gate and up nvfp4") == 2);
  CHECK(launches(in, "experts down fp8") == 1);
  CHECK(launches(in, "experts down nvfp4") == 57);
  CHECK(launches(in, "router") == 58);
  // Two of a layer's kernels where both parts are FP4: here the feed-forward half of 59 of them.
  CHECK(launches(in, "activation quantisation nvfp4") == 59);
  const StepModel model(in);
  const CompiledCost compiled(model);
  const double exact = core::to_seconds(model.step(decoders(64)).total);
  CHECK(core::to_seconds(compiled.step(decoders(64)).total) == Approx(exact).epsilon(0.005));
}

TEST_CASE("weight-only four-bit multiplications run at the rate of their activations") {
  const hardware::Gpu gpu = blackwell();
  const Efficiency e;
  for (const Format w : {Format::Nvfp4, Format::Mxfp4, Format::Int4Group128, Format::Int4Group32}) {
    INFO(precision::name(w));
    const MatrixMath wide = matrix_math(w, Format::BFloat16, gpu, e);
    CHECK(wide.rate == Rate::Bf16);
    CHECK(wide.flops_per_s == 2250e12);
    CHECK(wide.weight_bytes == precision::bytes_per_element(w));
    CHECK(wide.activation_bytes == 2.0);
    CHECK(matrix_math(w, Format::Fp8, gpu, e).rate == Rate::Fp8);
    CHECK(matrix_math(w, Format::Fp8, gpu, e).flops_per_s == 4500e12);
  }
  CHECK(matrix_math(Format::Nvfp4, Format::Nvfp4, gpu, e).rate == Rate::Fp4);
  // Without conversions: there is nothing to convert.
  const model::Architecture a = samples::llama_8b();
  StepModelInput in = samples::input(a, gpu);
  in.precision = samples::all(Format::Nvfp4, Format::Fp8);
  in.precision.activations = Format::BFloat16;
  in.precision.conversion = Conversion::Kernel;
  CHECK(seconds(in, "convert for mlp") == 0);
}

TEST_CASE("conversion is nobody's, the stack's, or a kernel for every input") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = blackwell();
  StepModelInput in = samples::input(a, gpu);
  in.precision = samples::all(Format::Nvfp4, Format::Fp8);
  const double stack = total_us(in);
  CHECK(launches(in, "activation quantisation") == 64);
  in.precision.conversion = Conversion::Fused;
  const double fused = total_us(in);
  CHECK(launches(in, "activation quantisation") == 0);
  in.precision.conversion = Conversion::Kernel;
  const double own = total_us(in);
  for (const char* name : {"convert for qkv", "convert for output", "convert for mlp", "convert for down"})
    CHECK(launches(in, name) == 32);
  CHECK(fused < stack);
  CHECK(stack < own);
  // A round trip through memory: 2 bytes in, 0.5625 out, beside the kernel's launch.
  const double rows = 64;
  const double bytes = rows * 14336 * 2.5625;
  CHECK(seconds(in, "convert for down") ==
        Approx(32 * (3e-6 + bytes / (7.672e12 * in.efficiency.elementwise))).epsilon(1e-9));
}

TEST_CASE("experts convert the inputs of both multiplications") {
  const hardware::Gpu gpu = blackwell();
  const model::Architecture a = samples::deepseek_v3();
  StepModelInput in = samples::input(a, gpu, 8);
  in.precision.conversion = Conversion::Kernel;
  for (const char* name : {"convert for experts", "convert for expert down", "convert for shared down"})
    CHECK(launches(in, name) == 58);
  CHECK(launches(in, "convert for down") == 3);
  CHECK(launches(in, "convert for q up") == 61);
}

TEST_CASE("only a tensor pipeline that converts can be said to do so") {
  core::Problems problems;
  std::vector<std::string> warnings;
  hardware::Gpu hopper = samples::h100();
  hopper.architecture = "hopper";
  Precision p = samples::all(Format::Fp8, Format::Fp8);
  p.conversion = Conversion::Fused;
  check_precision(p, samples::llama_8b(), hopper, problems, "here", warnings);
  REQUIRE(problems.lines().size() == 1);
  CHECK(problems.lines()[0].find("here/conversion: the tensor pipeline of h100 does not convert") == 0);
  core::Problems none;
  check_precision(p, samples::llama_8b(), blackwell(), none, "here", warnings);
  CHECK(none.empty());
}
