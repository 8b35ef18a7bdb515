#include "cost/compiled.hpp"

#include "catch.hpp"
#include "core/random.hpp"
#include "random_shapes.hpp"
#include "samples.hpp"

#include <chrono>
#include <cmath>

using namespace servecast;
using namespace servecast::cost;

namespace {

struct Sample {
  std::string name;
  model::Architecture architecture;
  hardware::Gpu gpu;
  std::int32_t tensor;
  bool async;
  bool graphs;
};

std::vector<Sample> all_samples() {
  return {{"llama-70b", samples::llama_70b(), samples::b200(), 2, true, true},
          {"llama-8b sync", samples::llama_8b(), samples::h100(), 1, false, true},
          {"llama-8b eager", samples::llama_8b(), samples::b200(), 1, true, false},
          {"gpt-oss", samples::gpt_oss_120b(), samples::b200(), 1, true, true},
          {"deepseek", samples::deepseek_v3(), samples::b200(), 8, true, true},
          {"deepseek sparse", samples::deepseek_v3(true), samples::b200(), 8, true, true}};
}

StepModelInput input(const Sample& s) {
  StepModelInput in = samples::input(s.architecture, s.gpu, s.tensor);
  in.async_scheduling = s.async;
  in.cuda_graphs = s.graphs;
  return in;
}

void check_parts(const StepTime& t) {
  REQUIRE(t.total == t.compute + t.memory + t.network + t.host);
  REQUIRE(t.compute.ps >= 0);
  REQUIRE(t.memory.ps >= 0);
  REQUIRE(t.network.ps >= 0);
  REQUIRE(t.host.ps >= 0);
}

}  // namespace

TEST_CASE("compiled tables agree with the uncompiled model within half a percent on random shapes") {
  for (const Sample& s : all_samples()) {
    INFO(s.name);
    const StepModelInput in = input(s);
    const StepModel model(in);
    const CompiledCost cost(model);
    CHECK(cost.needs_window() == model.attention().window);
    core::Random random(7, "test/" + s.name);
    double worst = 0;
    for (int i = 0; i < 3000; ++i) {
      const StepShape shape = random_shape(random, in, cost);
      const StepTime fast = cost.step(shape);
      const StepTime slow = model.step(shape);
      check_parts(fast);
      REQUIRE(fast.total.ps > 0);
      worst = std::max(worst, std::abs(core::to_seconds(fast.total) / core::to_seconds(slow.total) - 1));
      REQUIRE(std::abs(static_cast<double>(fast.scale_up_bytes - slow.scale_up_bytes)) <= 1);
    }
    CHECK(worst < 0.005);
  }
}

TEST_CASE("compiled prefill attention agrees with the uncompiled one") {
  for (const Sample& s : all_samples()) {
    INFO(s.name);
    const StepModelInput in = input(s);
    const StepModel model(in);
    const CompiledCost cost(model);
    core::Random random(8, "test/" + s.name);
    for (int i = 0; i < 3000; ++i) {
      const auto from = static_cast<std::int32_t>(random.below(100000));
      const auto to = from + 1 + static_cast<std::int32_t>(random.below(16384));
      REQUIRE(core::to_seconds(cost.chunk(from, to)) == Approx(model.chunk_s(from, to)).epsilon(0.001));
      REQUIRE(cost.chunk(from, to + 1) >= cost.chunk(from, to));
    }
  }
}

TEST_CASE("one more token, row or context token never shortens a step") {
  for (const Sample& s : all_samples()) {
    INFO(s.name);
    const StepModelInput in = input(s);
    const CompiledCost cost{StepModel(in)};
    const bool windowed = cost.needs_window() > 0;
    core::Random random(9, "test/" + s.name);
    for (int i = 0; i < 3000; ++i) {
      const StepShape shape = random_shape(random, in, cost);
      const core::Duration base = cost.step(shape).total;
      StepShape more = shape;
      if (shape.decode_requests > 0 && shape.decode_context < std::int64_t{shape.decode_requests} * in.max_model_len) {
        more.decode_context += 1;
        REQUIRE(cost.step(more).total >= base);
      }
      if (shape.decode_requests + shape.prefill_tokens < in.max_num_batched_tokens) {
        more = shape;
        more.prefill_tokens += 1;
        if (more.prefill_requests == 0) more.prefill_requests = 1;
        REQUIRE(cost.step(more).total >= base);
        if (shape.decode_requests + 1 < in.max_num_seqs && shape.sampled_rows < in.max_num_seqs) {
          more = shape;
          more.decode_requests += 1;
          more.decode_context += 1;
          if (windowed) more.decode_context_windowed += 1;
          REQUIRE(cost.step(more).total >= base);
          more.sampled_rows += 1;
          REQUIRE(cost.step(more).total >= base);
        }
      }
    }
  }
}

TEST_CASE("nominal links cost the same on both paths, and half a link doubles the bandwidth part only") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  const StepModelInput in = samples::input(a, gpu, 8);
  const StepModel model(in);
  const CompiledCost cost(model);
  core::Random random(10, "test/offer");
  for (int i = 0; i < 500; ++i) {
    StepShape shape = random_shape(random, in, cost);
    if (i % 2 == 0) {
      shape.sampled_rows = shape.decode_requests;
      shape.prefill_tokens = shape.prefill_requests = 0;
      shape.prefill_attention = {};
    }
    CHECK(cost.step(shape, {}) == cost.step(shape));
    const bool mixed = shape.prefill_tokens > 0;
    const double bandwidth = model.tokens(shape.decode_requests + shape.prefill_tokens, mixed).bandwidth_s +
                             model.rows(shape.sampled_rows, mixed).bandwidth_s;
    const StepTime half = cost.step(shape, {0.5, 1.0, 1.0});
    CHECK(core::to_seconds(half.network - cost.step(shape).network) == Approx(bandwidth).margin(1e-11));
    CHECK(half.compute == cost.step(shape).compute);
  }
}

TEST_CASE("one rank uses no network") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = samples::b200();
  const CompiledCost cost{StepModel(samples::input(a, gpu))};
  StepShape shape;
  shape.decode_requests = shape.sampled_rows = 10;
  shape.decode_context = 10000;
  CHECK(cost.step(shape).network.ps == 0);
  CHECK(cost.step(shape).scale_up_bytes == 0);
}

TEST_CASE("decode steps of up to 512 tokens are padded to their captured size") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = samples::b200();
  const StepModelInput in = samples::input(a, gpu);
  const StepModel model(in);
  CHECK(model.tokens(5, false).total_s() == model.tokens(8, false).total_s());
  CHECK(model.tokens(9, false).total_s() == model.tokens(16, false).total_s());
  CHECK(model.tokens(513, true).total_s() != model.tokens(528, true).total_s());
}

TEST_CASE("steps beyond the engine's limits are a broken invariant") {
  const model::Architecture a = samples::llama_8b();
  const hardware::Gpu gpu = samples::b200();
  const CompiledCost cost{StepModel(samples::input(a, gpu))};
  StepShape shape;
  shape.prefill_tokens = 8193;
  CHECK_THROWS_AS(cost.step(shape), core::LogicError);
  shape.prefill_tokens = 0;
  shape.decode_requests = 257;
  CHECK_THROWS_AS(cost.step(shape), core::LogicError);
  CHECK_THROWS_AS(cost.chunk(5, 5), core::LogicError);
}

TEST_CASE("tables of the largest server configuration stay below 8 MB") {
  for (const model::Architecture& a : {samples::llama_70b(), samples::gpt_oss_120b(), samples::deepseek_v3(true)}) {
    const hardware::Gpu gpu = samples::b200();
    StepModelInput in = samples::input(a, gpu, 8);
    in.max_num_batched_tokens = 16384;
    in.max_num_seqs = 1024;
    in.max_model_len = 1 << 20;
    CHECK(CompiledCost(StepModel(in)).table_bytes() < std::size_t{8} << 20);
  }
}
