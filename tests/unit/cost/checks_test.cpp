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

TEST_CASE("tensor parallelism that does not divide heads or widths is refused once, with the sizes that do") {
  const model::Architecture a = samples::llama_70b();
  core::Problems problems;
  check_parallel(a, 3, 8, problems, "p");
  CHECK(problems.lines() ==
        std::vector<std::string>{"p: tensor 3 does not divide the 64 attention heads of llama-70b; use 1, 2, 4 or 8"});
  core::Problems none;
  check_parallel(a, 16, 16, none, "p");  // KV heads are replicated
  CHECK(none.empty());
  CHECK(tensor_sizes(a, 72) == "1, 2, 4, 8, 16, 32 or 64");
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

TEST_CASE("activations that no kernel multiplies the weights by are refused by name") {
  const model::Architecture a = samples::llama_70b();
  const auto refused = [&](Format weights, Format activations) {
    core::Problems problems;
    Precision p = samples::all(weights, Format::Fp8);
    p.activations = activations;
    check_activations(p, a, problems, "p");
    return problems.lines();
  };
  CHECK(refused(Format::BFloat16, Format::Nvfp4) ==
        std::vector<std::string>{"p/activations: no tensor core multiplies bf16 weights by nvfp4 activations; use bf16 "
                                 "activations, or weights in nvfp4 too"});
  for (const auto& [weights, activations] : {std::pair{Format::Fp8, Format::Nvfp4},
                                             {Format::BFloat16, Format::Fp8},
                                             {Format::Int8, Format::Fp8},
                                             {Format::Fp8, Format::Int8},
                                             {Format::BFloat16, Format::Int8},
                                             {Format::Int4Group128, Format::Nvfp4}})
    CHECK(refused(weights, activations).size() == 1);
  for (const auto& [weights, activations] : {std::pair{Format::Nvfp4, Format::Nvfp4},
                                             {Format::Nvfp4, Format::Fp8},
                                             {Format::Fp8, Format::BFloat16},
                                             {Format::Int4Group128, Format::BFloat16},
                                             {Format::Int8, Format::Int8},
                                             {Format::BFloat16, Format::BFloat16}})
    CHECK(refused(weights, activations).empty());
}

TEST_CASE("one class in the format of the activations is enough: checkpoints mix") {
  const model::Architecture a = samples::llama_70b();
  Precision p = samples::all(Format::Nvfp4, Format::Nvfp4);
  p.weights.attention = Format::BFloat16;
  core::Problems problems;
  check_activations(p, a, problems, "p");
  CHECK(problems.empty());
}
