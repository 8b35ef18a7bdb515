// Models whose blocks differ: what each kind adds to a step.
#include "catch.hpp"
#include "cost/compiled.hpp"
#include "cost/explain.hpp"
#include "cost/state_cost.hpp"
#include "samples.hpp"

#include <algorithm>
#include <string>

using namespace servecast;
using namespace servecast::cost;

namespace {

// 3 of 4 blocks keep a state: 16 value heads of 128 x 128.
model::Architecture hybrid() {
  model::Architecture a = samples::llama_8b();
  a.name = "hybrid";
  a.state = model::StateMixer{};
  a.state->kind = model::StateKind::GatedDelta;
  a.state->heads = 16;
  a.state->head_dim = a.state->state_dim = 128;
  a.state->groups = 8;
  a.state->chunk = 64;
  a.blocks = model::BlockOrder{};
  model::BlockKind attention;
  attention.letter = "a";
  model::BlockKind state;
  state.letter = "s";
  state.mixer = model::Mixer::State;
  a.blocks->kinds = {attention, state};
  for (int i = 0; i < a.layers; ++i) a.blocks->order += i % 4 == 3 ? "a" : "s";
  return a;
}

// Windowed blocks with twice the KV heads of half the width, as Gemma 4 has them.
model::Architecture two_widths() {
  model::Architecture a = samples::llama_8b();
  a.blocks = model::BlockOrder{};
  model::BlockKind full;
  full.letter = "g";
  model::BlockKind narrow;
  narrow.letter = "w";
  narrow.attention = a.attention;
  narrow.attention->kv_heads = 16;
  narrow.attention->head_dim = 64;
  narrow.attention->window = 1024;
  a.blocks->kinds = {full, narrow};
  for (int i = 0; i < a.layers; ++i) a.blocks->order += i % 2 == 0 ? "g" : "w";
  return a;
}

double launches(const std::vector<Operator>& ops, std::string_view name) {
  double n = 0;
  for (const Operator& op : ops)
    if (op.name == name) n += op.count;
  return n;
}

std::vector<Operator> operators(const StepModelInput& in) {
  return token_operators({in.architecture, in.gpu, in.precision, in.parallel.tensor, in.efficiency, in.host});
}

StepShape shape_of(std::int32_t decoders, std::int32_t context) {
  StepShape s;
  s.decode_requests = s.sampled_rows = decoders;
  s.decode_context = std::int64_t{decoders} * context;
  s.decode_context_windowed = std::int64_t{decoders} * std::min(context, 1024);
  return s;
}

}  // namespace

TEST_CASE("every decoder reads and writes its states once, however long its context is") {
  const model::Architecture a = hybrid();
  const hardware::Gpu gpu = samples::b200();
  const StepModel model(samples::input(a, gpu));
  // 16 heads of 128 x 128 in FP32, and 3 steps of 16 x 128 + 2 x 8 x 128 channels in 16 bits
  const double state = 16 * 128 * 128 * 4 + 3 * 4096 * 2;
  CHECK(model.attention().fixed.bytes_per_decoder == 2.0 * 24 * state);
  CHECK(model.attention().decode[0].bytes_per_context == 8 * 2 * 8 * 128);
  const double one = model.decode(0, 10, 1e4, false).seconds() - model.decode(0, 10, 5e3, false).seconds();
  const double two = model.decode(0, 20, 1e4, false).seconds() - model.decode(0, 20, 5e3, false).seconds();
  CHECK(one == Approx(two));
}

TEST_CASE("operators of halves are launched as often as there are such halves") {
  const model::Architecture a = hybrid();
  const hardware::Gpu gpu = samples::b200();
  const StepModelInput in = samples::input(a, gpu, 2);
  const std::vector<Operator> ops = operators(in);
  CHECK(launches(ops, "qkv projection") == 8);
  CHECK(launches(ops, "state input projection") == 24);
  CHECK(launches(ops, "state update") == 24);
  CHECK(launches(ops, "mlp down") == 32);
  CHECK(launches(ops, "norm") == 64);
  CHECK(launches(ops, "all-reduce") == 65);
}

TEST_CASE("blocks of one half have one norm and one all-reduce") {
  model::Architecture a = hybrid();
  a.blocks->kinds[0].feed_forward = model::FeedForward::None;
  a.dense_layers = 24;
  const hardware::Gpu gpu = samples::b200();
  const std::vector<Operator> ops = operators(samples::input(a, gpu, 2));
  CHECK(launches(ops, "norm") == 56);
  CHECK(launches(ops, "all-reduce") == 57);
  CHECK(launches(ops, "mlp down") == 24);
}

TEST_CASE("blocks that are alike cost the same whether their order is stated or not") {
  const model::Architecture plain = samples::gpt_oss_120b();
  model::Architecture stated = plain;
  stated.attention.window = stated.attention.windowed_layers = 0;
  stated.blocks = model::BlockOrder{};
  model::BlockKind full;
  full.letter = "f";
  full.feed_forward = model::FeedForward::Experts;
  model::BlockKind windowed = full;
  windowed.letter = "w";
  windowed.attention = plain.attention;
  windowed.attention->windowed_layers = 0;
  stated.blocks->kinds = {full, windowed};
  for (int i = 0; i < plain.layers; ++i) stated.blocks->order += i % 2 == 0 ? "w" : "f";
  const hardware::Gpu gpu = samples::b200();
  const StepModel one(samples::input(plain, gpu, 4));
  const StepModel two(samples::input(stated, gpu, 4));
  for (const std::int32_t decoders : {1, 7, 200}) {
    StepShape s = shape_of(decoders, 3000);
    s.decode_context_windowed = std::int64_t{decoders} * 128;
    CHECK(one.step(s).total.ps == Approx(static_cast<double>(two.step(s).total.ps)).epsilon(1e-9));
  }
  CHECK(one.chunk_s(500, 1700) == Approx(two.chunk_s(500, 1700)).epsilon(1e-12));
}

TEST_CASE("windowed blocks read their own heads") {
  const model::Architecture a = two_widths();
  const hardware::Gpu gpu = samples::b200();
  const AttentionModel m = StepModel(samples::input(a, gpu)).attention();
  CHECK(m.window == 1024);
  CHECK(m.decode[0].bytes_per_context == 16 * 2 * 8 * 128);
  CHECK(m.decode[1].bytes_per_context == 16 * 2 * 16 * 64);
  CHECK(m.decode[0].flops_per_context == 2 * m.decode[1].flops_per_context);
}

TEST_CASE("keys wider than values count each with its width") {
  model::Architecture a = samples::llama_8b();
  a.attention.head_dim = 192;
  a.attention.v_dim = 128;
  const hardware::Gpu gpu = samples::b200();
  const AttentionModel m = StepModel(samples::input(a, gpu)).attention();
  CHECK(m.decode[0].bytes_per_context == 32 * 8 * (192 + 128));
  CHECK(m.decode[0].flops_per_context == 32 * 2.0 * 32 * (192 + 128));
}

TEST_CASE("attention over an encoder costs the same at every context") {
  model::Architecture a = samples::llama_8b();
  a.encoder_tokens = 1000;
  a.blocks = model::BlockOrder{};
  model::BlockKind self;
  self.letter = "a";
  model::BlockKind cross;
  cross.letter = "x";
  cross.mixer = model::Mixer::Cross;
  a.blocks->kinds = {self, cross};
  for (int i = 0; i < a.layers; ++i) a.blocks->order += i % 4 == 0 ? "x" : "a";
  const hardware::Gpu gpu = samples::b200();
  const StepModel model(samples::input(a, gpu));
  const DecodeClass& fixed = model.attention().fixed;
  CHECK(fixed.flops_per_decoder == 8 * 4.0 * 32 * 128 * 1000);
  CHECK(fixed.bytes_per_decoder == 8 * (2.0 * 8 * 128 * 1000 + 2.0 * 32 * 128 * 2));
  CHECK(launches(operators(model.input()), "cross query projection") == 8);
}

TEST_CASE("layers that reuse a selection have no indexer to run") {
  const model::Architecture all = samples::deepseek_v3(true);
  model::Architecture some = all;
  some.blocks = model::BlockOrder{};
  model::BlockKind own;
  own.letter = "f";
  own.feed_forward = model::FeedForward::Experts;
  model::BlockKind shared = own;
  shared.letter = "s";
  shared.attention = all.attention;
  shared.attention->indexer_heads = shared.attention->indexer_dim = 0;
  model::BlockKind dense = own;
  dense.letter = "d";
  dense.feed_forward = model::FeedForward::Dense;
  some.blocks->kinds = {own, shared, dense};
  some.blocks->order = "ddd";
  for (int i = 3; i < all.layers; ++i) some.blocks->order += "s";
  const hardware::Gpu gpu = samples::b200();
  const AttentionModel a = StepModel(samples::input(all, gpu)).attention();
  const AttentionModel b = StepModel(samples::input(some, gpu)).attention();
  CHECK(b.decode[1].bytes_per_context == Approx(a.decode[1].bytes_per_context));
  CHECK(b.decode[0].bytes_per_context == Approx(a.decode[0].bytes_per_context * 3 / 61));
  CHECK(b.kernels == a.kernels - 58);
}

TEST_CASE("a compiled hybrid costs what its model does, states and chunks included") {
  const model::Architecture a = hybrid();
  const hardware::Gpu gpu = samples::b200();
  const StepModel model(samples::input(a, gpu));
  const CompiledCost compiled(model);
  for (const std::int32_t decoders : {1, 33, 256}) {
    const StepShape s = shape_of(decoders, 5000);
    CHECK(static_cast<double>(compiled.step(s).total.ps) ==
          Approx(static_cast<double>(model.step(s).total.ps)).epsilon(0.005));
  }
  CHECK(core::to_seconds(compiled.chunk(0, 4096)) == Approx(model.chunk_s(0, 4096)).epsilon(1e-6));
  CHECK(core::to_seconds(compiled.chunk(4096, 4097)) == Approx(model.chunk_s(4096, 4097)).epsilon(1e-4));
}

TEST_CASE("the rows of a hybrid's explanation add up, its states in a row of their own") {
  const model::Architecture a = hybrid();
  const hardware::Gpu gpu = samples::b200();
  const StepModel model(samples::input(a, gpu));
  const Explanation e = explain(model, shape_of(64, 2000), {{0, 512}});
  double seconds = 0;
  bool states = false;
  for (const ExplainRow& r : e.rows) {
    seconds += r.seconds;
    states = states || r.name == "decode states";
  }
  CHECK(states);
  CHECK(seconds == Approx(core::to_seconds(e.time.total)).epsilon(1e-9));
}

TEST_CASE("a Mamba-2 chunk does its state's work once per token and its scores within the chunk") {
  model::StateMixer s;
  s.heads = 4;
  s.head_dim = 64;
  s.groups = 1;
  s.state_dim = 128;
  s.chunk = 256;
  CHECK(state_work(s, 1).prefill_flops == 2.0 * 256 * (128 + 4 * 64) + 4.0 * 4 * 64 * 128);
  CHECK(state_work(s, 2).prefill_flops == 2.0 * 256 * (128 + 2 * 64) + 4.0 * 2 * 64 * 128);
}
