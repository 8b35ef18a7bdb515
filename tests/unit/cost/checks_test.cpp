#include "catch.hpp"
#include "cost/roofline.hpp"
#include "samples.hpp"

using namespace servecast;
using namespace servecast::cost;
using precision::Format;

namespace {

struct Outcome {
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
};

Outcome outcome(const StepModelInput& in) {
  core::Problems problems;
  Outcome o;
  check_step_model(in, problems, "s.json:/pools/0", o.warnings);
  o.problems = problems.lines();
  return o;
}

}  // namespace

TEST_CASE("a sound input has neither problems nor warnings") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  const Outcome o = outcome(samples::input(a, gpu, 4));
  CHECK(o.problems.empty());
  CHECK(o.warnings.empty());
}

TEST_CASE("pipeline, data and expert parallelism are refused by name") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  in.parallel = {1, 2, 3, 4};
  CHECK(outcome(in).problems ==
        std::vector<std::string>{"s.json:/pools/0/parallel/pipeline: pipeline 2 is not modelled yet; use 1",
                                 "s.json:/pools/0/parallel/data: data 3 is not modelled yet; use 1",
                                 "s.json:/pools/0/parallel/expert: expert 4 is not modelled yet; use 1"});
}

TEST_CASE("tensor parallelism that does not divide heads or widths is refused with the nearest size that does") {
  const model::Architecture a = samples::llama_70b();
  core::Problems problems;
  check_parallel(a, 3, problems, "p");
  CHECK(problems.lines() ==
        std::vector<std::string>{
            "p: tensor 3 does not divide the 64 attention heads of llama-70b; use 1",
            "p: tensor 3 neither divides the 8 KV heads of llama-70b nor is a multiple of them; use 1",
            "p: tensor 3 does not divide the 28672 MLP columns of llama-70b; use 1"});
  core::Problems none;
  check_parallel(a, 16, none, "p");  // KV heads are replicated
  CHECK(none.empty());
}

TEST_CASE("a group larger than its domain is refused") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  CHECK(outcome(samples::input(a, gpu, 16)).problems.size() == 1);
}

TEST_CASE("FP4 on a GPU without an FP4 rate is computed as weight-only and said so") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::h100();
  StepModelInput in = samples::input(a, gpu);
  in.precision = samples::all(Format::Nvfp4, Format::Fp8);
  const Outcome o = outcome(in);
  CHECK(o.problems.empty());
  REQUIRE(o.warnings.size() == 2);  // attention and mlp; this model has no experts
  CHECK(o.warnings[0] ==
        "h100 has no fp4 tensor rate: attention weights in nvfp4 are computed as weight-only, at the bf16 rate");
}

TEST_CASE("formats that no engine computes or caches in are refused") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  in.precision.activations = Format::Int4Group128;
  in.precision.kv_cache = Format::Mxfp4;
  CHECK(outcome(in).problems.size() == 2);
}
